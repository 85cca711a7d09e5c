import type { Chain } from '@chainstead/chains';
import { type Database, hexText, rawSql, sql } from '@chainstead/db';
import type { DocumentExamples } from '@chainstead/http';
import type { AccountEvents } from './account-events.ts';

type ExampleFallback = Readonly<Record<'account' | 'chain', string>>;

export async function readAccountExamples(
  database: Database,
  chains: readonly Chain[],
  datasets: readonly AccountEvents[],
  fallback: ExampleFallback | null,
): Promise<DocumentExamples> {
  const examples = datasets.map(async ({ table, endpoint }) => {
    const [row] = await database.query<{ chainId: number; account: string }>(
      sql`SELECT chain_id, ${hexText('account')} AS account FROM (SELECT * FROM ${rawSql(table.name)} LIMIT ${rawSql(SAMPLE_ROWS)}) AS sample
      WHERE chain_id = ANY (${chains.map(({ id }) => id)}::bigint[]) LIMIT 1`,
    );
    const chain = chains.find(({ id }) => id === row?.chainId);
    const example =
      row === undefined || chain === undefined ? fallback : { account: row.account, chain: chain.key };
    return example === null
      ? []
      : [[endpoint.operationId, { address: example.account, chain: example.chain }] as const];
  });
  return Object.fromEntries((await Promise.all(examples)).flat());
}

const SAMPLE_ROWS = 1_000;
