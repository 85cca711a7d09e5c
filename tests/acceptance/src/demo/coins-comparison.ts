import type { DemoCoins } from 'chainstead/src/demo/demo-coins.ts';
import { z } from 'zod';
import { type DemoApi, DemoApiError } from './demo-api.ts';
import type { Comparison } from './equality.ts';

const PAGE_ROWS = 15;

/** All coins, and all transfers and holders of one of them, page by page. */
export function compareCoins(
  { symbols, traded, transfers, holders }: DemoCoins,
  api: DemoApi,
): readonly Comparison[] {
  const numbered = (list: readonly string[]): string[] => list.map((text, place) => `${place}: ${text}`);
  const comparison = <Row>(
    subject: string,
    [path, row]: readonly [path: string, row: z.ZodType<Row>],
    [expected, textOf]: readonly [expected: readonly string[], textOf: (row: Row) => string],
  ): Comparison => ({
    subject,
    expected: numbered(expected),
    served: async () => numbered((await readRows(api, path, row)).map(textOf)),
  });
  return [
    comparison(
      'coins of an Aptos ledger',
      ['coins/latest', z.object({ symbol: z.string() })],
      [symbols.toReversed(), ({ symbol }) => symbol],
    ),
    comparison(
      'transfers of an Aptos coin',
      [`coins/transfers/${encodeURIComponent(traded.type)}`, transferRow],
      [
        transfers
          .toReversed()
          .map(({ owner, isDeposit, amount }) => `${owner} ${isDeposit ? '+' : '-'}${amount}`),
        (row) => `${row.owner_address} ${row.activity_type.endsWith('DepositEvent') ? '+' : '-'}${row.amount}`,
      ],
    ),
    comparison(
      'holders of an Aptos coin',
      [`coins/owners/${traded.hash}/top-holders`, z.object({ owner_address: z.string(), amount: z.string() })],
      [holders.map(([owner, amount]) => `${owner} ${amount}`), (row) => `${row.owner_address} ${row.amount}`],
    ),
  ];
}

const transferRow = z.object({ owner_address: z.string(), activity_type: z.string(), amount: z.string() });

async function readRows<Row>({ address, key }: DemoApi, path: string, row: z.ZodType<Row>): Promise<Row[]> {
  const page = z.object({ cursor: z.string().nullable(), result: z.array(row) });
  const rows: Row[] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const query = new URLSearchParams({ limit: String(PAGE_ROWS), ...(cursor === '' ? {} : { cursor }) });
    const url = `${address}/${path}?${query}`;
    const response = await fetch(url, key === undefined ? {} : { headers: { 'x-api-key': key } });
    const parsed = page.safeParse(await response.json());
    if (!parsed.success) throw new DemoApiError(url, `${response.status} ${z.prettifyError(parsed.error)}`);
    rows.push(...parsed.data.result);
    cursor = parsed.data.cursor;
  }
  return rows;
}
