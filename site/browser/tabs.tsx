import type { ComponentChildren, VNode } from "preact";
import { useRef } from "preact/hooks";

export interface TabsProps<Name extends string> {
  /** Unique in the page. */
  id: string;
  label: string;
  tabs: Record<Name, string>;
  current: Name;
  choose: (name: Name) => void;
  children: ComponentChildren;
}

/** Tabs as WAI-ARIA describes them: one stop of the Tab key, arrows go from tab to tab. */
export function Tabs<Name extends string>({
  id,
  label,
  tabs,
  current,
  choose,
  children,
}: TabsProps<Name>): VNode {
  const list = useRef<HTMLDivElement>(null);
  const names = Object.keys(tabs) as Name[];
  const move = (event: KeyboardEvent) => {
    const steps: Record<string, number> = { ArrowRight: 1, ArrowLeft: -1 };
    const from = names.indexOf(current);
    const to =
      event.key === "Home"
        ? 0
        : event.key === "End"
          ? names.length - 1
          : (from + (steps[event.key] ?? 0) + names.length) % names.length;
    const name = names[to];
    if (to === from || name === undefined) return;
    event.preventDefault();
    choose(name);
    list.current?.querySelectorAll<HTMLElement>("[role=tab]")[to]?.focus();
  };
  return (
    <div>
      <div class="tabs" role="tablist" aria-label={label} ref={list} onKeyDown={move}>
        {names.map((name) => (
          <button
            key={name}
            type="button"
            role="tab"
            id={`${id}-${name}-tab`}
            aria-controls={`${id}-panel`}
            aria-selected={name === current}
            tabIndex={name === current ? 0 : -1}
            onClick={() => choose(name)}
          >
            {tabs[name]}
          </button>
        ))}
      </div>
      <div role="tabpanel" id={`${id}-panel`} aria-labelledby={`${id}-${current}-tab`}>
        {children}
      </div>
    </div>
  );
}
