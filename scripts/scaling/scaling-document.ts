import { renderChains, renderCores, renderParts } from './scaling-tables.ts';

const TABLES: Readonly<Record<string, () => string>> = { parts: renderParts, cores: renderCores, chains: renderChains };

/** docs/scaling.md with its computed tables put in anew. @throws RangeError when the place of one is missing */
export function renderScalingDocument(text: string): string {
  return Object.entries(TABLES).reduce((document, [name, render]) => {
    const place = new RegExp(`(<!-- computed: ${name} -->\\n)[\\s\\S]*?(<!-- end -->)`);
    if (!place.test(document)) throw new RangeError(`docs/scaling.md has no place for the table ${name}`);
    return document.replace(place, (_, before: string, after: string) => `${before}\n${render()}\n\n${after}`);
  }, text);
}
