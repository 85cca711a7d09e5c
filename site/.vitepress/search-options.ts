/** How the search of the site orders sections. The site's build turns the function into text, so it refers to nothing around it. */
export const searchOptions = {
  fuzzy: 0.2,
  prefix: true,
  combineWith: 'AND',
  boost: { title: 4, text: 2, titles: 1 },
  /** Lists of everything, and pages for contributors, come after pages that help with a task. */
  boostDocument: (id: string): number =>
    /^\/(?:CHANGELOG|CONTRIBUTING|internals\/|reference\/errors)/.test(id)
      ? 0.2
      : /^\/(?:reference\/|concepts\/glossary)/.test(id)
        ? 0.8
        : 1,
} as const;
