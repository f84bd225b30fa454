/* @jsxRuntime automatic */
/* @jsxImportSource preact */
import type { ComponentChildren, VNode } from "preact";
import type { PageContext } from "../page-context.ts";
import { Scroll } from "../scroll.tsx";

const pages = [
  { path: "/", name: "Overview" },
  { path: "/reference", name: "Reference" },
  { path: "/explorer", name: "Explorer" },
];
const filesPage = { path: "/files", name: "Files" };

const icon =
  "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E%3Crect width='16' height='16' rx='3' fill='%231a4480'/%3E%3Cpath d='M4 12V8m4 4V4m4 8V6' stroke='white' stroke-width='2'/%3E%3C/svg%3E";

export interface LayoutProps {
  context: PageContext;
  path: string;
  title: string;
  description: string;
  /** Entry points of scripts, beside the one that every page has. */
  scripts?: string[];
  /** A file that a script will fetch. */
  preload?: string | undefined;
  children: ComponentChildren;
}

/** What all pages share: the document, its landmarks, the way to the other pages. */
export function Layout({
  context,
  path,
  title,
  description,
  scripts = [],
  preload,
  children,
}: LayoutProps): VNode {
  const { config, hasPublicData, locate } = context;
  return (
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <title>{title}</title>
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="description" content={description} />
        <meta name="color-scheme" content="light dark" />
        <link rel="icon" href={icon} />
        <link rel="stylesheet" href={locate("site.css")} />
        {preload && <link rel="preload" as="fetch" href={preload} crossOrigin="anonymous" />}
        {["page.js", ...scripts].map((name) => (
          <script key={name} type="module" src={locate(name)} />
        ))}
      </head>
      <body>
        <a class="skip-link" href="#main">
          Skip to main content
        </a>
        <header class="site-header">
          <div class="wrap site-header__row">
            <p class="site-name">
              <a href="/">Single Audit API</a>
            </p>
            <nav aria-label="Pages">
              <ul>
                {[...pages, ...(hasPublicData ? [filesPage] : [])].map(({ path: href, name }) => (
                  <li key={href}>
                    <a href={href} aria-current={href === path ? "page" : undefined}>
                      {name}
                    </a>
                  </li>
                ))}
              </ul>
            </nav>
          </div>
        </header>
        <main id="main" tabIndex={-1}>
          {children}
        </main>
        <footer class="site-footer">
          <div class="wrap">
            <p>
              Read-only access to Single Audit submissions under 2 CFR part 200, subpart F. This site sets no
              cookies and loads nothing from other hosts.
            </p>
            <ul>
              {config.contact && (
                <li>
                  <a href={config.contact}>Contact</a>
                </li>
              )}
              {hasPublicData && (
                <li>
                  <a href="/openapi.json">OpenAPI</a>
                </li>
              )}
              <li>
                <a href="/.well-known/security.txt">Report a vulnerability</a>
              </li>
            </ul>
          </div>
        </footer>
      </body>
    </html>
  );
}

/** A command to copy: the button comes by script, so that without one there is none that does nothing. */
export function Command({ text, label }: { text: string; label: string }): VNode {
  return (
    <div class="command" data-copy={label}>
      <Scroll label={label} kind="code wrapped">
        <pre>
          <code>{text}</code>
        </pre>
      </Scroll>
    </div>
  );
}
