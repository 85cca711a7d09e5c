import type { NewDataset } from './dataset-names.ts';
import type { EventParameter } from './parse-event.ts';
import { capital } from './render-routes.ts';

/** A value of a parameter as viem takes it, and as the dataset has it; another one for each place. */
function exampleOf({ type }: EventParameter, place: number): { readonly given: string; readonly stored: string } {
  const number = place + 1;
  if (type === 'address') return same(`addressOf(${number})`);
  if (type === 'uint') return { given: `${number * 1_000}n`, stored: `'${number * 1_000}'` };
  return same(type === 'bool' ? 'true' : `hashOf(3, ${number})`);
}

function placeOf({ parameters }: NewDataset['event'], { name }: EventParameter): number {
  return parameters.findIndex((parameter) => parameter.name === name);
}

function same(value: string) {
  return { given: value, stored: value };
}

/** `testing/example-event.ts`: a log of the event, as viem encodes it. */
export function renderExample({ event }: NewDataset): string {
  const values = event.parameters.map((parameter, place) => ({ parameter, ...exampleOf(parameter, place) }));
  const data = event.parameters.filter(({ isIndexed }) => !isIndexed);
  const types = { address: 'address', uint: 'uint256', bool: 'bool', bytes32: 'bytes32' } as const;
  return `import { type Address, type Log, parseHash } from '@chainstead/core';
import { addressOf${event.parameters.some(({ type }) => type === 'bytes32') ? ', hashOf' : ''} } from '@chainstead/testkit';
import { encodeAbiParameters, encodeEventTopics, parseAbiItem } from 'viem';
import { exampleLog } from '../../testing/seed-logs.ts';

export const ${capital(event.name)}_ABI = parseAbiItem('${event.declaration}');

/** The contract that emits the examples. */
export const CONTRACT: Address = addressOf(0xc0);

export const EXAMPLE = {
${values.map(({ parameter, given }) => `  ${parameter.name}: ${given},\n`).join('')}};

/** The event with these values, in a block. */
export function toLog(values: Partial<typeof EXAMPLE> = {}, place: Parameters<typeof exampleLog>[1] = {}): Log {
  const args = { ...EXAMPLE, ...values };
  const topics = encodeEventTopics({ abi: [${capital(event.name)}_ABI], args }).map((topic) => parseHash(String(topic)));
  const data = encodeAbiParameters([${data.map(({ type }) => `{ type: '${types[type]}' }`).join(', ')}], [${data.map(({ name }) => `args.${name}`).join(', ')}]);
  return exampleLog({ address: CONTRACT, topics, data }, place);
}
`.replaceAll(`${capital(event.name)}_ABI`, `${event.name.toUpperCase()}_ABI`);
}

/** `decode.test.ts`: the decoder against literals and viem. */
export function renderDecoderTest({ event, camel, topicName, topic, account, others }: NewDataset): string {
  const abi = `${event.name.toUpperCase()}_ABI`;
  const stored = event.parameters.map((parameter, place) => `${parameter.name}: ${exampleOf(parameter, place).stored}`);
  const uses = (name: string) => stored.some((line) => line.includes(`${name}(`));
  const ofTestkit = ['exampleChain', ...['addressOf', 'hashOf'].filter(uses)].toSorted();
  const accountValue = account === undefined ? 'CONTRACT' : exampleOf(account, placeOf(event, account)).stored;
  const row = others.map((one) => `${one.name}: ${exampleOf(one, placeOf(event, one)).stored}`);
  return `import { ${ofTestkit.join(', ')} } from '@chainstead/testkit';
import { toEventSelector } from 'viem';
import { describe, expect, test } from 'vitest';
import { decode${event.name}, ${topicName} } from './decode.ts';
import { ${camel} } from './manifest.ts';
import { CONTRACT, ${abi}, toLog } from './testing/example-event.ts';

const context = { chain: exampleChain(), timestampOf: () => 0 };

test('topic0 is the one of the event', () => {
  expect(${topicName}).toBe('${topic}');
  expect(${topicName}).toBe(toEventSelector(${abi}));
});

describe('the decoder', () => {
  test('reads what viem encodes', () => {
    expect(decode${event.name}(toLog())).toEqual({ ${stored.join(', ')} });
  });

  test('reads nothing of logs of another shape', () => {
    const log = toLog();
    const [topic0 = log.transactionHash, ...rest] = log.topics;
    expect(decode${event.name}({ ...log, data: \`\${log.data}00\` })).toBeNull();
    expect(decode${event.name}({ ...log, topics: [topic0, ...rest, topic0] })).toBeNull();
    expect(decode${event.name}({ ...log, topics: [log.transactionHash, ...rest] })).toBeNull();
  });
});

test('an event is a row of its account', () => {
  expect(${camel}.decode([toLog()], context)).toMatchObject([
    { account: ${accountValue}, ${account === undefined ? '' : 'contract: CONTRACT, '}${row.join(', ')}${row.length > 0 ? ', ' : ''}blockNumber: 7, logIndex: 9, chainId: 1 },
  ]);
});
`;
}

/** `route.test.ts`: pages of the list. */
export function renderRouteTest({ camel, event, account, name, others }: NewDataset): string {
  const subject = account === undefined ? 'contracts' : 'wallets';
  const place = account === undefined ? 0 : placeOf(event, account);
  const accountValue = account === undefined ? 'CONTRACT' : exampleOf(account, place).stored;
  const shown = others.map((one) => `${one.column}: ${exampleOf(one, placeOf(event, one)).stored}`);
  const body = [accountValue, ...shown].join();
  const ofTestkit = ['addressOf', 'hashOf', 'timestampOf'].filter(
    (used) => used !== 'addressOf' || body.includes('addressOf('),
  );
  return `import { createChainRegistry } from '@chainstead/chains';
import { EXAMPLE_KEY, exampleApi } from '@chainstead/http/testing';
import { ${ofTestkit.join(', ')} } from '@chainstead/testkit';
import { madeForFile, scratchOfFile } from '@chainstead/testkit/hooks';
import { beforeAll, describe, expect, test } from 'vitest';
import { seedLogs } from '../testing/seed-logs.ts';
import { ${camel} } from './manifest.ts';
import { routes } from './route.ts';
import { CONTRACT, toLog } from './testing/example-event.ts';

const chain = createChainRegistry().get('eth');
const ACCOUNT = ${accountValue};
const BLOCKS = [7, 8, 9, 10, 11];

const scratch = scratchOfFile();
const api = madeForFile(() => exampleApi(scratch.database, routes));
beforeAll(() =>
  seedLogs(
    scratch.database,
    ${camel},
    chain,
    BLOCKS.map((blockNumber) => toLog({}, { blockNumber })),
  ),
);

interface Page {
  readonly cursor: string | null;
  readonly result: readonly { readonly block_number: string }[];
}

async function get(query: string): Promise<{ readonly status: number; readonly body: Page }> {
  const response = await api.request(\`/api/v2.2/${subject}/\${ACCOUNT}/${name}\${query}\`, { headers: { 'X-API-Key': EXAMPLE_KEY } });
  return { status: response.status, body: (await response.json()) as Page };
}

const blocksOf = ({ result }: Page): number[] => result.map(({ block_number }) => Number(block_number));

describe('the list', () => {
  test('shows each field of a row', async () => {
    const { status, body } = await get('?to_block=7');
    expect(status).toBe(200);
    expect(body).toEqual({
      page: 0,
      page_size: 100,
      cursor: null,
      indexed: { from_block: '0', to_block: '11', complete: true },
      result: [
        {
          ${account?.column ?? 'account'}: ACCOUNT,
          ${account === undefined ? '' : 'contract: CONTRACT,\n          '}${shown.join(', ')}${shown.length > 0 ? ',' : ''}
          block_number: '7',
          block_timestamp: new Date(timestampOf(7) * 1_000).toISOString(),
          transaction_hash: hashOf(2, 7_003),
          log_index: 9,
        },
      ],
    });
  });

  test('is read page by page in either order', async () => {
    for (const [order, expected] of [
      ['DESC', BLOCKS.toReversed()],
      ['ASC', BLOCKS],
    ] as const) {
      const first = (await get(\`?order=\${order}&limit=3\`)).body;
      const second = (await get(\`?order=\${order}&limit=3&cursor=\${first.cursor}\`)).body;
      expect([...blocksOf(first), ...blocksOf(second)]).toEqual(expected);
      expect(second.cursor).toBeNull();
    }
  });

  test('keeps to bounds of blocks and dates', async () => {
    expect(blocksOf((await get('?from_block=8&to_block=9')).body)).toEqual([9, 8]);
    const date = new Date(timestampOf(10) * 1_000).toISOString();
    expect(blocksOf((await get(\`?from_date=\${date}\`)).body)).toEqual([11, 10]);
  });

  test('rejects an unknown chain', async () => {
    expect((await get('?chain=nowhere')).status).toBe(400);
  });
});
`;
}

/** `rows.explain.test.ts`: the plan of a page. */
export function renderExplainTest({ camel, event, account, table }: NewDataset): string {
  const ofOther = account === undefined ? '' : `${account.name}: addressOf(1_000 + (index % 300)) `;
  const busy = account === undefined ? 'CONTRACT' : `addressOf(${placeOf(event, account) + 1})`;
  return `import { sql } from '@chainstead/db';
import { ${account === undefined ? '' : 'addressOf, '}exampleChain, explain, PLANS, rowsScanned } from '@chainstead/testkit';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { beforeAll, describe, expect, test } from 'vitest';
import { type AccountRowsQuery, accountRowsStatement } from '../manifest/account-rows.ts';
import { seedLogs } from '../testing/seed-logs.ts';
import { ${camel} } from './manifest.ts';
import { ${camel}Rows } from './route.ts';
import { ${account === undefined ? 'CONTRACT, ' : ''}toLog } from './testing/example-event.ts';

// Half of the rows are of one account, the others of 300.
const ROWS = 20_000;
const LIMIT = 50;
const chain = exampleChain();
const scratch = scratchOfFile({ autovacuum: false });

beforeAll(async () => {
  await scratch.database.query(sql\`ANALYZE\`);
  const logs = Array.from({ length: ROWS }, (_, index) =>
    toLog(${account === undefined ? '{}' : `index % 2 === 0 ? {} : { ${ofOther}}`}, { blockNumber: index >> 2, transactionIndex: 0, logIndex: index & 3 }),
  );
  await seedLogs(scratch.database, ${camel}, chain, logs);
});

const QUERY: AccountRowsQuery = {
  account: ${busy},
  order: 'DESC',
  limit: LIMIT,
  after: null,
  fromBlock: null,
  toBlock: null,
  fromDate: null,
  toDate: null,
  pinnedBlock: null,
};
const after = { block_number: 2_500, transaction_index: 0, log_index: 0 };

describe.each(PLANS)('the $plan plan $statistics', ({ prepare, plan }) => {
  beforeAll(() => prepare(scratch.database));

  test.each<[string, Partial<AccountRowsQuery>]>([
    ['the first page', {}],
    ['a page in the middle', { after, pinnedBlock: 4_000 }],
    ['the oldest page', { order: 'ASC' }],
    ['a page within bounds', { fromBlock: 1_000, toBlock: 3_000 }],
  ])('%s is a range of the primary key that stops after a page', async (_name, query) => {
    const { nodes } = await explain(scratch.database, accountRowsStatement(chain, ${camel}Rows, { ...QUERY, ...query }), plan);
    const scans = nodes.filter((node) => node['Relation Name']?.startsWith('${table}') === true);
    expect(scans.length).toBeGreaterThan(0);
    for (const scan of scans) expect(scan['Index Name']).toMatch(/_pkey$/);
    expect(rowsScanned(scans)).toBeLessThanOrEqual(LIMIT + 2);
  });
});
`;
}
