import type { Chain } from '@chainstead/chains';
import { type Block, type BlockRange, keccak256, type Log, rangeSize } from '@chainstead/core';
import { blockCall, checkIdentity } from '../blocks/fetch-blocks.ts';
import { readWhole } from '../blocks/read-receipts.ts';
import { UpstreamFault } from '../errors.ts';
import { parseBlock } from '../formats/parse-block.ts';
import { misnumberedBlocks, placeLogs, repeatsIndexes } from '../formats/parse-log.ts';
import type { Upstream } from '../upstream/upstream.ts';
import { checkLogs, compareLogs, type LogsExpectation, matchesLog } from './check-logs.ts';

export interface LogsReading {
  readonly chain: Pick<Chain, 'key' | 'receiptsRoot'>;
  readonly upstream: Upstream;
  readonly signal: AbortSignal | undefined;
}

const METHOD = 'eth_getLogs';
const RANGE_MAX = 128;
const BLOOM_BITS = 2048;
const BLOOM_DIGITS = BLOOM_BITS / 4;

/** By receipts, unless the header rules logs out. @throws UpstreamFault, MalformedAnswerError */
export async function readUnanswered(
  reading: LogsReading,
  expected: LogsExpectation & { readonly range: BlockRange },
): Promise<Log[]> {
  const { upstream } = reading;
  const { range } = expected;
  if (rangeSize(range) > RANGE_MAX) {
    const suggestedRange = { from: range.from, to: range.from + RANGE_MAX - 1 };
    const text = `answered null for blocks ${range.from} to ${range.to}`;
    const hints = { reaction: 'density', suggestedRange } as const;
    throw new UpstreamFault({ upstream: upstream.name, method: METHOD, kind: 'malformed', text, hints });
  }
  const logs: Log[] = [];
  for (const number of await blocksThatMayHold(reading, expected))
    logs.push(...(await readLogsOfReceipts(reading, number, expected)));
  if (logs.length > 0)
    upstream.state.blamed(
      'missing-logs',
      `null was answered for blocks ${range.from} to ${range.to}, which have logs`,
    );
  return logs;
}

/** @throws UpstreamFault, MalformedAnswerError */
export async function readLogsOfReceipts(
  { chain, upstream, signal }: LogsReading,
  block: number,
  expected: LogsExpectation,
): Promise<Log[]> {
  const whole = await readWhole({ chain, upstream }, block, { signal });
  if (whole === null) throw upstream.fault('missing-block', METHOD, `answered null for block ${block}`);
  const isCounted = countsByBlock(chain) || repeatsIndexes(whole.receipts);
  const receipts = isCounted ? placeLogs(whole.receipts).receipts : whole.receipts;
  const logs = receipts.flatMap((receipt) => receipt.logs.filter((log) => matchesLog(log, expected)));
  return checkLogs(logs, { ...expected, range: { from: block, to: block } });
}

/** By receipts. @param logs in chain order @throws UpstreamFault, MalformedAnswerError */
export async function renumberLogs(
  reading: LogsReading & { readonly misnumbers: Set<string> },
  logs: Log[],
  expected: LogsExpectation,
): Promise<Log[]> {
  const { upstream, misnumbers, chain } = reading;
  const risesInBlock = countsByBlock(chain);
  const doubtful = misnumbers.has(upstream.name)
    ? new Set(logs.map(({ blockNumber }) => blockNumber))
    : misnumberedBlocks(logs, { risesInBlock });
  if (doubtful.size === 0) return logs;
  const read = new Map<number, Log[]>();
  for (const block of doubtful) read.set(block, await readLogsOfReceipts(reading, block, expected));
  if (risesInBlock) misnumbers.add(upstream.name);
  const examples = [...doubtful].slice(0, 5).join(', ');
  upstream.state.blamed('log-index-mismatch', `logs of blocks ${examples} are not numbered by block`);
  const others = logs.filter(({ blockNumber }) => !doubtful.has(blockNumber));
  return [...others, ...[...read.values()].flat()].sort(compareLogs);
}

/** Otherwise nodes number differently, and HyperEVM's leave out system transactions. */
function countsByBlock({ receiptsRoot }: LogsReading['chain']): boolean {
  return receiptsRoot === 'ethereum';
}

async function blocksThatMayHold(
  { chain, upstream, signal }: LogsReading,
  expected: LogsExpectation & { readonly range: BlockRange },
): Promise<number[]> {
  const { from } = expected.range;
  const numbers = Array.from({ length: rangeSize(expected.range) }, (_, index) => from + index);
  const calls = numbers.map((number) => blockCall(number));
  const outcomes = await upstream.callMany(calls, { signal });
  return numbers.filter((number, index) => {
    const outcome = outcomes[index];
    if (outcome?.ok === false) throw outcome.error;
    if (outcome === undefined || outcome.result === null)
      throw upstream.fault('missing-block', METHOD, `has no block ${number}, for which it answered logs`);
    const block = parseBlock(outcome.result);
    checkIdentity(block.header, number);
    upstream.state.setServed(number);
    return mayHold(block, expected, chain);
  });
}

/** Blooms prove nothing if headers commit to nothing. */
function mayHold(
  { header, transactionHashes }: Block,
  { addresses, topics, indexed }: LogsExpectation,
  chain: LogsReading['chain'],
): boolean {
  const { logsBloom } = header;
  if (logsBloom === null || chain.receiptsRoot === 'none') return transactionHashes.length > 0;
  if (/^0x0*$/.test(logsBloom)) return false;
  const digits = logsBloom.slice(-BLOOM_DIGITS);
  return [addresses, topics, ...indexed].every(
    (wanted) => wanted === null || wanted.values().some((value) => isInBloom(digits, value)),
  );
}

/** Yellow paper, section 4.3.1, M3:2048. */
function isInBloom(digits: string, value: string): boolean {
  const digest = keccak256(Buffer.from(value.slice(2), 'hex'));
  return [0, 2, 4].every((at) => {
    const bit = digest.readUInt16BE(at) % BLOOM_BITS;
    const digit = Number.parseInt(digits[BLOOM_DIGITS - 1 - (bit >> 2)] ?? '0', 16);
    return (digit & (1 << (bit & 3))) !== 0;
  });
}
