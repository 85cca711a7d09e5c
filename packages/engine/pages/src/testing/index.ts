/** The query of a first page, newest rows first, without bounds. */
export const FIRST_PAGE = {
  order: 'DESC',
  after: null,
  pinnedBlock: null,
  ...{ fromBlock: null, toBlock: null, fromDate: null, toDate: null },
} as const;
