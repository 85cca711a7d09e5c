import { fillApiDataset } from '../api-dataset.ts';
import { pathOf } from '../api-servers.ts';
import type { Benchmark } from '../benchmark.ts';
import { compareLimits } from '../compare-limits.ts';
import { WALLET_PAGE } from '../wallet-page.ts';

/** What a page reads does not depend on how many rows there are besides. */
const ROWS_MAX = 200_000;
const RARE_ROWS = 3;

/** What counting a key's requests over two processes adds to a page. */
export const apiLimits: Benchmark = {
  name: 'api-limits',
  title: 'Pages of 100 transfers with a limit that two API processes count together, against no limit',
  async run(context) {
    const scratch = await context.server.createDatabase();
    try {
      const rows = Math.min(ROWS_MAX, context.sizes.apiRows);
      const dataset = await fillApiDataset(scratch.database, { rows, whaleRows: rows / 5, rareRows: RARE_ROWS });
      return {
        comparisons: await compareLimits(context, scratch.url, pathOf(WALLET_PAGE, { address: dataset.whale })),
        measures: [],
        notes: ['Here the peer is Chainstead itself without a limit. One client asks, one request after the other.'],
      };
    } finally {
      await scratch.drop();
    }
  },
};
