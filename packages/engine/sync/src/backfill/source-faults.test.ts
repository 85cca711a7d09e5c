/** Each lie and fault of a source through the backfill: no wrong row, nothing missing at the end, the source named. */
import {
  type ChainSource,
  createScriptedChain,
  type JsonObject,
  type SourceFaultSettings,
} from '@chainstead/testkit';
import { scratchOfFile, stageOfFile } from '@chainstead/testkit/hooks';
import { describe, expect, test } from 'vitest';
import {
  expectNamed,
  type OpenSource,
  openEra,
  openHyperSync,
  openPortal,
  openSourcedChain,
  SOURCED_BLOCKS,
  SOURCED_RANGE,
  type SourcedChain,
  type SourcedFill,
} from '../testing/sourced-chain.ts';

const CHAIN_ID = 964_001;
const scratch = scratchOfFile();
const sourced = stageOfFile(() => openSourcedChain(scratch.database, CHAIN_ID));

type Tamper = (line: JsonObject) => JsonObject | null;
type Faults = Partial<SourceFaultSettings>;

const portalWith =
  (faults: Faults): OpenSource =>
  (chain, parts) =>
    openPortal(chain, parts, { faults });
const portalOver =
  (changes: (chain: SourcedChain) => Partial<ChainSource>): OpenSource =>
  (chain, parts) =>
    openPortal(chain, parts, { chain: changes(chain) });

/** Changes the line of the block in the middle. */
const tampered =
  (tamper: Tamper): OpenSource =>
  (chain, parts) =>
    openPortal(chain, parts, {
      faults: { tamper: (line) => (numberOf(line) === chain.middle.number ? tamper(line) : line) },
    });
const inHeader = (changes: JsonObject): OpenSource =>
  tampered((line) => ({ ...line, header: { ...(line.header as JsonObject), ...changes } }));
const inRows = (list: 'transactions' | 'logs', change: (rows: readonly JsonObject[]) => readonly JsonObject[]) =>
  tampered((line) => ({ ...line, [list]: change(rowsOf(line, list)) }));
const inFirst = (changes: (row: JsonObject) => JsonObject): OpenSource =>
  inRows('transactions', ([first = {}, ...others]) => [{ ...first, ...changes(first) }, ...others]);
const hyperSyncWith =
  (faults: Faults): OpenSource =>
  (chain, parts) =>
    openHyperSync(chain, parts, faults);
/** The same of a HyperSync, whose names are in snake_case. */
const inHyperSync =
  (tamper: Tamper): OpenSource =>
  (chain, parts) =>
    openHyperSync(chain, parts, {
      nestedLists: true,
      tamper: (line) => (numberOf(line) === chain.middle.number ? tamper(line) : line),
    });
const inPageHeader = (changes: JsonObject): OpenSource =>
  inHyperSync((line) => ({ ...line, header: { ...(line.header as JsonObject), ...changes } }));
const inPage = (list: 'transactions' | 'logs', change: (rows: readonly JsonObject[]) => readonly JsonObject[]) =>
  inHyperSync((line) => ({ ...line, [list]: change(rowsOf(line, list)) }));
const inFirstOfPage = (changes: (row: JsonObject) => JsonObject): OpenSource =>
  inPage('transactions', ([first = {}, ...others]) => [{ ...first, ...changes(first) }, ...others]);
/** Changes the lines of each response with the block in the middle; `at` is its place. */
const rewritten =
  (rewrite: (lines: string[], at: number) => readonly string[]): OpenSource =>
  (chain, parts) =>
    openPortal(chain, parts, {
      faults: {
        rewrite: (lines) => {
          const at = lines.findIndex((line) => numberOf(JSON.parse(line)) === chain.middle.number);
          return at < 0 ? lines : rewrite([...lines], at);
        },
      },
    });

/** The last five of the branch that was replaced. */
const newestAbandoned = ({ abandoned, stage: { scripted } }: SourcedChain): Partial<ChainSource> => ({
  blockAt: (number) => (number > SOURCED_BLOCKS - 5 ? abandoned.get(number) : scripted.blockAt(number)),
});
const hyperSyncOver =
  (changes: (chain: SourcedChain) => Partial<ChainSource>): OpenSource =>
  (chain, parts) =>
    openHyperSync(chain, parts, {}, changes(chain));

function withoutRoots(line: JsonObject): JsonObject {
  return { ...line, header: { ...(line.header as JsonObject), receiptsRoot: null } };
}

const someHash = `0x${'ab'.repeat(32)}`;

function expectTruth({ rows, covered }: SourcedFill): void {
  expect(rows).toEqual(sourced.rowsOfNodes);
  expect(covered).toEqual([SOURCED_RANGE, SOURCED_RANGE]);
}

// Invariant: PROOF-SOURCE-CANONICAL
describe('a lie', () => {
  test.each<readonly [string, OpenSource, RegExp]>([
    ['a dropped log', inRows('logs', (logs) => logs.slice(1)), /root-mismatch/],
    ['a dropped transaction', inRows('transactions', (all) => all.slice(1)), /Transaction 0 .* has index 1/],
    ['swapped receipts', inRows('transactions', swappedReceipts), /root-mismatch/],
    [
      'a changed amount',
      inRows('logs', (logs) => logs.map((log) => ({ ...log, data: someHash }))),
      /root-mismatch/,
    ],
    ['a changed transaction', inFirst(() => ({ value: '0x123' })), /transaction-hash-mismatch/],
    ['another sender', inFirst(() => ({ from: `0x${'12'.repeat(20)}` })), /sender-mismatch/],
    ['another use of gas', inFirst(() => ({ gasUsed: '0x1' })), /receipt-mismatch/],
    ['another fee', inFirst(() => ({ effectiveGasPrice: '0x1' })), /lacks effectiveGasPrice/],
    ['a wrong field of a header', inHeader({ gasLimit: '0x1' }), /header-hash-mismatch/],
    ['a wrong time', inHeader({ timestamp: 5 }), /header-hash-mismatch/],
    ['another parent', inHeader({ parentHash: someHash }), /parent/],
    ['a wrong hash with right contents', inHeader({ hash: someHash }), /header-hash-mismatch/],
    [
      'a block of another branch',
      portalOver(({ abandoned, middle, stage: { scripted } }) => ({
        blockAt: (number) => (number === middle.number ? abandoned.get(number) : scripted.blockAt(number)),
      })),
      /parent/,
    ],
    [
      'another branch, with all its roots',
      portalOver(({ abandoned }) => ({ blockAt: (number) => abandoned.get(number) })),
      /nodes have/,
    ],
    ['newest blocks of another branch', portalOver(newestAbandoned), /nodes have|does not follow|parent/],
    [
      'newest blocks of another branch of a HyperSync',
      hyperSyncOver(newestAbandoned),
      /nodes have|does not follow|parent/,
    ],
    ['a receipts root that is null', inHeader({ receiptsRoot: null }), /receiptsRoot/],
    ['a transactions root that is null', inHeader({ transactionsRoot: null }), /transactionsRoot/],
    ['a withdrawals root that is null', inHeader({ withdrawalsRoot: null }), /withdrawalsRoot|header-hash/],
    ['a root that is null in every block', portalWith({ tamper: withoutRoots }), /receiptsRoot/],
    ['a root of a HyperSync that is null', inPageHeader({ receipts_root: null }), /receiptsRoot/],
    ['a gap in the stream', tampered(() => null), /is missing before/],
    ['a repeated block', rewritten((lines, at) => lines.toSpliced(at, 0, lines[at - 1] ?? '')), /were awaited/],
    [
      'blocks out of order',
      rewritten((lines, at) => lines.toSpliced(at - 1, 2, lines[at] ?? '', lines[at - 1] ?? '')),
      /is missing before/,
    ],
    ['a line of 100 MB', rewritten(longLine()), /a line exceeds/],
    [
      'a HyperSync of another network',
      (chain, parts) => openHyperSync(chain, parts, { wrongChainId: 5 }),
      /chain 5/,
    ],
    ['a dropped log of a HyperSync', inPage('logs', (logs) => logs.slice(1)), /root-mismatch/],
    ['an added log', inPage('logs', (logs) => [...logs, { ...logs[0], log_index: 999 }]), /root-mismatch/],
    [
      'a changed amount of a HyperSync',
      inPage('logs', (logs) => logs.map((log) => ({ ...log, data: someHash }))),
      /root-mismatch/,
    ],
    ['another status', inFirstOfPage(({ status }) => ({ status: 1 - Number(status) })), /root-mismatch/],
    ['other gas', inFirstOfPage(() => ({ gas_used: '0x1' })), /receipt-mismatch/],
    ['another value', inFirstOfPage(() => ({ value: '0x123' })), /transaction-hash-mismatch/],
    ['another hash of a transaction', inFirstOfPage(() => ({ hash: someHash })), /A log names/],
    ['a value that is null', inFirstOfPage(() => ({ value: null })), /does not hold|lacks/],
    [
      'a dropped transaction of a HyperSync',
      inPage('transactions', (all) => all.slice(0, -1)),
      /is of no transaction/,
    ],
    ['another parent in a page', inPageHeader({ parent_hash: someHash }), /as its parent/],
    ['a time beyond 2^53', inPageHeader({ timestamp: 2 ** 53 }), /timestamp/],
    ['half of a byte', inPageHeader({ extra_data: '0x0' }), /extraData/],
    ['a row beyond the page', inPageHeader({ number: 9_000 }), /outside/],
    ['a block that is missing in a page', inHyperSync(() => null), /is missing/],
  ])('%s', async (_name, open, reason) => {
    const fill = await sourced.fill(open);
    expectTruth(fill);
    expectNamed(fill, reason);
  });
});

// Invariant: PROOF-SAME-CHAIN
describe('another chain with the same id that is served by', () => {
  const other = createScriptedChain({ seed: 7, chainId: CHAIN_ID, finalityDepth: 0, isSigned: true });
  other.mine(SOURCED_BLOCKS);
  const places = { blockAt: other.blockAt };

  const sources: readonly (readonly [string, OpenSource])[] = [
    ['a Portal', portalOver(() => places)],
    ['a HyperSync', hyperSyncOver(() => places)],
    [
      'era files',
      (chain, parts) => openEra(chain, parts, { blocks: other.blocksIn({ from: 0, to: SOURCED_BLOCKS }) }),
    ],
  ];
  test.each(
    sources.flatMap(([name, open]) =>
      (['receipts', 'none'] as const).map((proof) => [name, proof, open] as const),
    ),
  )('%s, to a backfill with proof "%s"', async (_name, proof, open) => {
    const fill = await sourced.fill(open, { proof });
    expectTruth(fill);
    expectNamed(fill, /nodes have/);
    expect(fill.status?.uses).toMatchObject({ blocks: { blocks: 0 }, logs: { blocks: 0 } });
  });
});

describe('a fault', () => {
  test.each<readonly [string, OpenSource, RegExp, number]>([
    ['a stream that ends inside its first line', portalWith(cut('inside', 0)), /ended inside/, 5_000],
    ['a connection that is lost at once', portalWith(cut('connection', 0)), /closed/, 5_000],
    ['a head that it does not serve', portalWith({ servedTo: 50 }), /no block 51/, 60_000],
    ['newest blocks of another branch', portalOver(newestAbandoned), /nodes have|parent/, 60_000],
    ['204 for ever', portalWith({ emptyRate: 1 }), /no block/, 60_000],
    ['409', portalWith(status(409)), /HTTP 409/, 60_000],
    ['500', portalWith(status(500)), /HTTP 500/, 5_000],
    ['429', portalWith(status(429)), /HTTP 429/, 5_000],
    ['429 with Retry-After', portalWith(status(429, 30)), /HTTP 429/, 30_000],
    ['503', portalWith(status(503)), /HTTP 503/, 5_000],
    ['503 with Retry-After', portalWith(status(503, 40)), /HTTP 503/, 40_000],
    ['529', portalWith(status(529)), /HTTP 529/, 5_000],
    ['529 with Retry-After', portalWith(status(529, 50)), /HTTP 529/, 50_000],
    ['truncated gzip', portalWith({ encoding: 'gzip', truncateRate: 1, pageBlocks: 1 }), /ended inside/, 5_000],
    [
      'HTML instead of JSON',
      portalWith({ status: { rate: 1, status: 200, body: '<html>down</html>' } }),
      /not JSON/,
      60_000,
    ],
    [
      'a slow drip',
      (chain, parts) =>
        openPortal(chain, parts, { faults: { dripMs: 5 }, deadlines: { windowMs: 100, windowBytesMin: 1_000 } }),
      /bytes/,
      5_000,
    ],
    ['a height that a HyperSync does not serve', hyperSyncWith({ servedTo: 50 }), /no block 51/, 60_000],
    ['pages without a block', hyperSyncWith({ emptyRate: 1 }), /no block/, 60_000],
    ['413 for a single block', hyperSyncWith({ tooLargeBlocks: 0 }), /HTTP 413/, 5_000],
    ['502 with HTML', hyperSyncWith(status(502)), /HTTP 502/, 5_000],
  ])('%s', async (_name, open, reason, leftAloneMs) => {
    // Filtered logs of one dataset, whole blocks of the other.
    const fill = await sourced.fill(open, { proof: 'none', order: 'newest-first' });
    expectTruth(fill);
    expectNamed(fill, reason);
    expect(fill.warnings[0]?.left_alone_ms).toBe(leftAloneMs);
  });
});

describe('no fault', () => {
  test.each<readonly [string, OpenSource]>([
    ['a stream that ends early, after each five lines', portalWith(cut('line', 5))],
    ['a stream that ends inside each sixth line', portalWith(cut('inside', 5))],
    ['few blocks a response, in zstd', portalWith({ encoding: 'zstd', pageBlocks: 7 })],
    ['numbers in other forms', portalWith({ tamper: otherForms })],
    ['`r` and `s` with and without leading zeros', portalWith({ tamper: paddedInOddBlocks })],
    ['empty access lists left out', portalWith({ tamper: withoutEmptyLists })],
    ['a HyperSync', inHyperSync((line) => line)],
    // It has not all fields: headers come from nodes.
    ['a HyperSync with another miner', inPageHeader({ miner: `0x${'ab'.repeat(20)}` })],
  ])('%s: each block is read from the source', async (_name, open) => {
    const fill = await sourced.fill(open);
    expectTruth(fill);
    expect(fill.warnings).toEqual([]);
    expect(fill.status?.uses.blocks).toMatchObject({ blocks: SOURCED_BLOCKS, failures: 0 });
  });

  test('blocks of 20 MB: no more than two are held until a node confirms the last', async () => {
    const confirmations = () => sourced.stage.callsOf('eth_getBlockByNumber');
    const before = confirmations();
    const fill = await sourced.fill(async (chain, parts) => {
      const source = await openPortal(chain, parts);
      return {
        ...source,
        async *readBlocks(...wanted) {
          for await (const block of source.readBlocks(...wanted)) yield { ...block, bytes: 20_000_000 };
        },
      };
    });
    expectTruth(fill);
    expect(fill.status?.uses.blocks).toMatchObject({ blocks: SOURCED_BLOCKS, failures: 0 });
    expect(confirmations() - before).toBeGreaterThanOrEqual(SOURCED_BLOCKS / 2);
  });

  test('a stale head: what is above it comes from nodes', async () => {
    const fill = await sourced.fill(portalOver(() => ({ finalized: 50 })));
    expectTruth(fill);
    expect(fill.warnings).toEqual([]);
    expect(fill.status).toMatchObject({ available: [{ from: 0, to: 50 }], uses: { blocks: { blocks: 50 } } });
  });
});

function status(code: number, retryAfterSeconds?: number): Faults {
  return { status: { rate: 1, status: code, ...(retryAfterSeconds !== undefined && { retryAfterSeconds }) } };
}

function cut(where: 'line' | 'inside' | 'connection', afterLines: number): Faults {
  return { cut: { rate: 1, afterLines, where } };
}

/** Once: then the line is as it should be. */
function longLine() {
  let isSent = false;
  return (lines: string[], at: number): string[] => {
    if (isSent) return lines;
    isSent = true;
    return lines.with(at, (lines[at] ?? '').replace('"data":"0x', `"data":"0x${'ab'.repeat(50_000_000)}`));
  };
}

function swappedReceipts([first = {}, second = {}, ...others]: readonly JsonObject[]): readonly JsonObject[] {
  const receiptOf = ({ gasUsed, cumulativeGasUsed, status, logsBloom }: JsonObject) => ({
    ...{ gasUsed, cumulativeGasUsed, status, logsBloom },
  });
  return [{ ...first, ...receiptOf(second) }, { ...second, ...receiptOf(first) }, ...others];
}

function numberOf({ header }: JsonObject): unknown {
  return (header as JsonObject).number;
}

function rowsOf(line: JsonObject, list: string): readonly JsonObject[] {
  return (line[list] ?? []) as readonly JsonObject[];
}

const QUANTITIES = new Set([
  'gas',
  'gasPrice',
  'value',
  'cumulativeGasUsed',
  'gasUsed',
  'gasLimit',
  'baseFeePerGas',
]);

/** JSON numbers as hex, quantities as decimal text. */
function otherForms(line: JsonObject): JsonObject {
  const other = (row: JsonObject): JsonObject =>
    Object.fromEntries(
      Object.entries(row).map(([name, value]) => {
        if (typeof value === 'number') return [name, `0x${value.toString(16).padStart(4, '0')}`];
        return [name, QUANTITIES.has(name) && typeof value === 'string' ? String(BigInt(value)) : value];
      }),
    );
  return {
    header: other(line.header as JsonObject),
    transactions: rowsOf(line, 'transactions').map(other),
    logs: rowsOf(line, 'logs').map(other),
  };
}

/** As nodes send them, without zeros, in the others. */
function paddedInOddBlocks(line: JsonObject): JsonObject {
  if (Number(numberOf(line)) % 2 === 0) return line;
  const padded = (value: unknown): string => `0x${String(value).slice(2).padStart(64, '0')}`;
  const transactions = rowsOf(line, 'transactions').map((row) => ({
    ...row,
    r: padded(row.r),
    s: padded(row.s),
  }));
  return { ...line, transactions };
}

function withoutEmptyLists(line: JsonObject): JsonObject {
  const transactions = rowsOf(line, 'transactions').map(({ accessList, ...row }) =>
    Array.isArray(accessList) && accessList.length > 0 ? { ...row, accessList } : row,
  );
  return { ...line, transactions };
}
