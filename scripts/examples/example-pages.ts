/** Puts examples into the sections that describe their operations: nothing else says where an example belongs. */

export interface PlacedExample {
  /** In capitals. */
  readonly method: string;
  /** With parameters in braces. */
  readonly path: string;
  readonly operation: string;
  readonly summary: string;
  readonly text: string;
}

const BEGIN = '<!-- Generated: examples -->\n';
const END = '<!-- End of generated: examples -->\n';
const GENERATED = new RegExp(`\\n${BEGIN}[\\s\\S]*?${END}`, 'g');
const INTRODUCTION = 'from the [demo](../start/demo.md), with [its address and key](index.md#make-a-request)';

/**
 * @param pages by path
 * @returns the pages with their examples, and the operations that no page names as `GET /path`
 */
export function placeExamples(pages: ReadonlyMap<string, string>, examples: readonly PlacedExample[]) {
  const sections = [...pages].flatMap(([page, text]) =>
    text
      .replaceAll(GENERATED, '')
      // A heading begins a section. Comments of shells have no empty line before them.
      .split(/(?<=\n\n)(?=#{1,3} )/)
      .map((section) => ({ page, section, examples: [] as PlacedExample[] })),
  );
  const unplaced: string[] = [];
  for (const example of examples) {
    const naming = sections.filter(({ section }) => placeIn(section, example) >= 0);
    // The section that also has the operation's name describes it.
    const place = naming.find(({ section }) => section.includes(`(\`${example.operation}\`)`)) ?? naming[0];
    if (place === undefined) unplaced.push(example.operation);
    else place.examples.push(example);
  }
  const placed = new Map<string, string>();
  for (const { page, section, examples } of sections) {
    const ordered = examples.toSorted((one, other) => placeIn(section, one) - placeIn(section, other));
    placed.set(page, (placed.get(page) ?? '') + withExamples(section, ordered));
  }
  return { placed, unplaced };
}

/** The index of `GET /path` in a text, also with a query or a body after the path. -1: none. */
function placeIn(text: string, { method, path }: PlacedExample): number {
  const ends = ['`', '?', ' '].map((end) => text.indexOf(`\`${method} ${path}${end}`));
  return ends.find((index) => index >= 0) ?? -1;
}

function withExamples(section: string, examples: readonly PlacedExample[]): string {
  if (examples.length === 0) return section;
  const [only] = examples;
  const text =
    examples.length === 1
      ? `Example ${INTRODUCTION}:\n\n${only?.text}`
      : `Examples ${INTRODUCTION}:\n\n${examples.map((one) => `<details>\n<summary>${one.summary}</summary>\n\n${one.text}\n</details>\n`).join('\n')}`;
  return `${section.trimEnd()}\n\n${BEGIN}\n${text}\n${END}${section.endsWith('\n\n') ? '\n' : ''}`;
}
