/* @jsxRuntime automatic */
/* @jsxImportSource preact */
import type { VNode } from "preact";
import { Scroll } from "../scroll.tsx";

/** A measure by one property, as a plot and its table show it. */
export interface PlotProps {
  id: string;
  caption: string;
  /** What the rows are. */
  heading: string;
  measure: string;
  /** By name; what is not stated stands under "". */
  sums: Map<string, number>;
  /** Where the rows behind a name are. */
  link: (name: string) => string;
  /** What is told of a name when it is pointed at. */
  describe: (name: string) => string;
  format: (sum: number) => string;
  /** What a name stands for, where it is a number. */
  titles?: Record<string, string>;
}

/** The numbers of a plot, for who reads or copies them. */
export function TwinTable({ id, caption, heading, measure, sums, link, format, titles }: PlotProps): VNode {
  const names = [...sums.keys()].filter((name) => name !== "").sort();
  return (
    <details class="twin">
      <summary>
        The numbers as a table<span class="visually-hidden">: {caption}</span>
      </summary>
      <Scroll label={caption} kind="scroll--short">
        <table id={`${id}-table`}>
          <caption class="visually-hidden">{caption}</caption>
          <thead>
            <tr>
              <th scope="col">{heading}</th>
              <th scope="col" class="number">
                {measure}
              </th>
            </tr>
          </thead>
          <tbody>
            {names.map((name) => (
              <tr key={name}>
                <th scope="row">
                  <a href={link(name)}>
                    {name} {titles?.[name]}
                  </a>
                </th>
                <td class="number">{format(sums.get(name) ?? 0)}</td>
              </tr>
            ))}
            {sums.has("") && (
              <tr>
                <th scope="row">not stated</th>
                <td class="number">{format(sums.get("") ?? 0)}</td>
              </tr>
            )}
          </tbody>
        </table>
      </Scroll>
    </details>
  );
}
