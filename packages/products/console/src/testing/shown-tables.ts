/** A table of a page, parsed from its HTML. */
export interface ShownTable {
  readonly title: string;
  /** HTML of its rows. */
  readonly rows: readonly string[];
  /** Path and query of the request line next to it; null if there is none. */
  readonly target: string | null;
}

const SECTION =
  /<section aria-labelledby="[^"]*"><h[23] id="[^"]*">([^<]*)<\/h[23]>((?:(?!<section).)*?)<\/section>/gs;

/** The tables of a page, each with its request line. */
export function shownTables(page: string): readonly ShownTable[] {
  return [...page.matchAll(SECTION)].map(([, title = '', content = '']) => ({
    title,
    rows: [...(/<tbody>(.*)<\/tbody>/s.exec(content)?.[1] ?? '').matchAll(/<tr>(.*?)<\/tr>/gs)].map(
      ([, row = '']) => row,
    ),
    target: targetIn(content),
  }));
}

/** Returns the request that a shell would send. */
function targetIn(content: string): string | null {
  const [, line = ''] = /<code>(curl [^<]*)<\/code>/.exec(content) ?? [];
  const [, target] = /&#39;http:\/\/localhost([^&]*(?:&amp;[^&]*)*)&#39;/.exec(line) ?? [];
  return target?.replaceAll('&amp;', '&') ?? null;
}
