import { addContract, readContractDatasets } from '@chainstead/contracts';
import { rawSql, sql } from '@chainstead/db';
import type { Benchmark, BenchmarkContext } from '../benchmark.ts';
import { BenchmarkError } from '../benchmark-error.ts';
import { CONTRACT_ABI, CONTRACT_TABLE } from '../contract-run.ts';
import { compareTenths, fillTenths, notesOfTenths, TENTHS, type Tenth } from '../fill-tenths.ts';
import { createGrowingChain, TRANSFERS_PER_BLOCK } from '../growing-chain.ts';

/** Columns with an index: none, as by default, and one whose values come in no order. */
const CASES = [
  { name: 'no index', indexed: [] },
  { name: 'index on the receiver', indexed: ['to_'] },
] as const;

/** Whether the last row of a contract costs as much as the first one. */
export const growthContracts: Benchmark = {
  name: 'growth-contracts',
  title: 'The last tenth of a large contract table against the first: rows/s, log',
  async run(context) {
    const blocks = TENTHS * Math.ceil(context.sizes.contractRows / TENTHS / TRANSFERS_PER_BLOCK);
    const reports = [];
    for (const { name, indexed } of CASES) {
      context.say(`  ${name}, ${blocks * TRANSFERS_PER_BLOCK} rows`);
      reports.push({ name, tenths: await fill(context, blocks, indexed) });
    }
    return {
      comparisons: reports.flatMap(({ name, tenths }) =>
        compareTenths(tenths).map((one) => ({ ...one, name: `${name}, ${one.name}` })),
      ),
      measures: [],
      notes: reports.flatMap(({ name, tenths }) => notesOfTenths(tenths).map((note) => `${name}: ${note}`)),
    };
  },
};

async function fill(
  { server, say }: BenchmarkContext,
  blocks: number,
  indexed: readonly string[],
): Promise<readonly Tenth[]> {
  const { database, drop } = await server.createDatabase();
  try {
    const { chain, pool, tokens } = createGrowingChain({ blocks, referenceBlocks: blocks });
    await addContract(database, {
      ...{ name: 'token', chain, addresses: tokens, factory: null, abi: CONTRACT_ABI },
      ...{ firstBlock: null, events: null, indexed },
    });
    const tenths = await fillTenths({
      ...{ chain, pool, database, blocks, say },
      datasets: await readContractDatasets(database),
      rowsPerBlock: TRANSFERS_PER_BLOCK,
      pause: { after: blocks, run: async () => undefined },
    });
    const [counted] = await database.query<{ rows: number }>(
      sql`SELECT count(*) AS rows FROM ${rawSql(CONTRACT_TABLE)}`,
    );
    const rows = blocks * TRANSFERS_PER_BLOCK;
    if (counted?.rows !== rows) throw new BenchmarkError(`${counted?.rows} rows were written instead of ${rows}`);
    return tenths;
  } finally {
    await drop();
  }
}
