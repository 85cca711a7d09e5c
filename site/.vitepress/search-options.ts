/** How the search of the site orders sections. The site's build turns the functions into text, so they refer to nothing around them. */
export const searchOptions = {
  fuzzy: 0.2,
  prefix: true,
  combineWith: 'AND',
  /** As a prefix, "a" finds every word that begins with it. */
  processTerm: (term: string): string | null =>
    /^(?:an?|the|to|of|my)$/i.test(term) ? null : term.toLowerCase(),
  boost: { title: 4, text: 2, titles: 1 },
  /** Lists of everything, and pages for contributors, come after pages that help with a task, and sections after a page about it. */
  boostDocument: (id: string, _term: string, stored?: { readonly titles?: unknown }): number => {
    if (/^\/(?:CHANGELOG|CONTRIBUTING|internals\/|reference\/errors)/.test(id)) return 0.2;
    if (/^\/(?:reference\/|concepts\/glossary)/.test(id)) return 0.8;
    return Array.isArray(stored?.titles) && stored.titles.length === 0 ? 1.5 : 1;
  },
} as const;
