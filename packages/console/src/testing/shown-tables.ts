/** A table of a page, as its HTML says it. */
export interface ShownTable {
  readonly title: string;
  /** Of its rows, HTML. */
  readonly rows: readonly string[];
  /** Path and query that the line beside it asks; null where there is no such line. */
  readonly target: string | null;
}

const SECTION = /<section aria-labelledby="[^"]*"><h[23] id="[^"]*">([^<]*)<\/h[23]>((?:(?!<section).)*?)<\/section>/gs;

/** The tables of a page, each with the line that gives the same. */
export function shownTables(page: string): readonly ShownTable[] {
  return [...page.matchAll(SECTION)].map(([, title = '', content = '']) => ({
    title,
    rows: [...(/<tbody>(.*)<\/tbody>/s.exec(content)?.[1] ?? '').matchAll(/<tr>(.*?)<\/tr>/gs)].map(
      ([, row = '']) => row,
    ),
    target: targetIn(content),
  }));
}

/** What a shell would ask. */
function targetIn(content: string): string | null {
  const [, line = ''] = /<code>(curl [^<]*)<\/code>/.exec(content) ?? [];
  const [, target] = /&#39;http:\/\/localhost([^&]*(?:&amp;[^&]*)*)&#39;/.exec(line) ?? [];
  return target?.replaceAll('&amp;', '&') ?? null;
}
