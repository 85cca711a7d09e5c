import { type Address, type Hash, type Hex, type Log, ZERO_HASH } from '@chainstead/core';
import { BLOOM_BYTES, EMPTY_TRIE_ROOT, encodeReceipt, logsBloom, orderedTrieRoot } from '@chainstead/proof';
import { addressTopic, TRANSFER_TOPIC } from '../scripted/scripted-event.ts';
import { APPROVAL_TOPIC, SWAP_TOPIC } from '../scripted/scripted-events.ts';
import { quantity, sealHeader } from '../scripted/scripted-header.ts';
import type { SeededRandom } from '../seeded-random.ts';
import type { BenchLog } from './bench-logs.ts';
import type { BenchMarket } from './bench-market.ts';
import { type BenchNfts, type EmittedLog, NFT_TOPICS } from './bench-nfts.ts';
import { type SignedCall, type SignedTransaction, signedRoot } from './bench-signers.ts';

/** What the blocks of a benchmark are drawn from. */
export interface BenchCast {
  readonly random: SeededRandom;
  readonly chainId: number;
  readonly tokens: readonly Address[];
  /** Logs at the start of the first transaction. */
  readonly opening: readonly EmittedLog[];
  readonly wallets: readonly Address[];
  readonly transactionsPerBlock: number;
  readonly logsPerTransaction: number;
  /** Share of what happens that NFT contracts do. */
  readonly nftShare: number;
  readonly nfts: BenchNfts;
  /** Share of what happens in pools. */
  readonly marketShare: number;
  readonly market: BenchMarket | null;
  /** Share of the other logs that are ERC-20 transfers. */
  readonly transferShare: number;
  readonly logTimestamps: boolean;
  /** Makes transactions that prove themselves; null: hashes carry number and index, and nothing is signed. */
  readonly sign: ((call: SignedCall) => SignedTransaction) | null;
}

/** A block as text that only needs to be sent. */
export interface BenchBlock {
  readonly hash: Hash;
  /** The block with transaction hashes. */
  readonly light: string;
  /** The block with transaction objects. */
  readonly full: string;
  readonly receipts: string;
  /** In order, over all transactions. */
  readonly logs: readonly BenchLog[];
  /** How many of them are ERC-20 transfers, and how many are of NFTs. */
  readonly erc20Count: number;
  readonly nftCount: number;
}

interface BenchTransaction {
  readonly hash: Hash;
  readonly from: Address;
  readonly to: Address;
  readonly input: Hex;
  readonly logs: readonly EmittedLog[];
  readonly bloom: Buffer;
  readonly cumulativeGas: number;
  readonly signed: SignedTransaction | null;
}

const GAS_PER_TRANSACTION = 120_000;
const GAS_LIMIT = '0x30d40';
const GAS_PRICE = '0x3b9aca07';
/** Topics of the logs that are no Transfers. */
const OTHER_TOPICS: readonly Hash[] = [APPROVAL_TOPIC, SWAP_TOPIC];

/** A block with true hash, receipts root and blooms. Unless its transactions are signed, their hashes carry number and index, and their root is made up. */
export function buildBenchBlock(
  cast: BenchCast,
  place: {
    readonly number: number;
    readonly parentHash: Hash;
    readonly timestamp: number;
    readonly empty: boolean;
  },
): BenchBlock {
  const count = place.empty ? 0 : cast.transactionsPerBlock;
  const transactions = Array.from({ length: count }, (_, index) => buildTransaction(cast, place, index));
  const bloom = Buffer.alloc(BLOOM_BYTES);
  for (const transaction of transactions)
    for (let at = 0; at < BLOOM_BYTES; at++) bloom[at] = (bloom[at] ?? 0) | (transaction.bloom[at] ?? 0);
  const encoded = transactions.map((transaction, index) =>
    encodeReceipt({
      transactionHash: transaction.hash,
      transactionIndex: index,
      type: 2,
      cumulativeGasUsed: BigInt(transaction.cumulativeGas),
      logs: transaction.logs.map(withoutPlace),
      raw: { status: '0x1' },
    }),
  );
  const { hash, header } = sealHeader({
    ...place,
    mixHash: cast.random.hex(32),
    logsBloom: bloom,
    transactionsRoot: count === 0 ? EMPTY_TRIE_ROOT : rootOf(cast, transactions),
    receiptsRoot: orderedTrieRoot(encoded),
    gasUsed: count * GAS_PER_TRANSACTION,
  });
  return writeBlock(
    cast,
    place,
    hash,
    JSON.stringify({ ...header, size: quantity(600 + 300 * count) }),
    transactions,
  );
}

function buildTransaction(
  cast: BenchCast,
  { number, timestamp }: { readonly number: number; readonly timestamp: number },
  index: number,
): BenchTransaction {
  const hash = `0x${hex8(number)}${hex8(index)}${cast.random.hex(24).slice(2)}` as Hash;
  const report = index === 0 ? (cast.market?.report(number, timestamp) ?? null) : null;
  const logs: EmittedLog[] = [...(report === null ? [] : [report]), ...(index === 0 ? cast.opening : [])];
  while (logs.length < cast.logsPerTransaction)
    logs.push(...buildLogs(cast, cast.logsPerTransaction - logs.length));
  const made = {
    hash,
    from: wallet(cast),
    to: logs[0]?.address ?? wallet(cast),
    input: cast.random.hex(68),
    logs,
    bloom: logsBloom(logs.map(withoutPlace)),
    cumulativeGas: GAS_PER_TRANSACTION * (index + 1),
  };
  const { chainId, sign } = cast;
  const { to, input } = made;
  const signed = sign?.({ chainId, to, input, gas: BigInt(GAS_LIMIT), gasPrice: BigInt(GAS_PRICE) }) ?? null;
  return signed === null ? { ...made, signed } : { ...made, hash: signed.hash, from: signed.from, signed };
}

function rootOf({ random, sign }: BenchCast, transactions: readonly BenchTransaction[]): Hex {
  return sign === null ? random.hex(32) : signedRoot(transactions.flatMap(({ signed }) => signed ?? []));
}

function hex8(value: number): string {
  return value.toString(16).padStart(8, '0');
}

/** The block number that a transaction hash of this kind carries. */
export function blockOfTransactionHash(hash: string): number {
  return Number.parseInt(hash.slice(2, 10), 16);
}

function wallet(cast: BenchCast): Address {
  return cast.wallets[cast.random.skewedIndex(cast.wallets.length, 3)] as Address;
}

function buildLogs(cast: BenchCast, room: number): readonly EmittedLog[] {
  const { random, nftShare, nfts, market, marketShare } = cast;
  // Nothing is drawn for chains without these options: their contents stay the same.
  if (market !== null && room > 1 && random.chance(marketShare)) return market.trade(wallet(cast));
  return nftShare > 0 && random.chance(nftShare) ? nfts.next(room) : [buildLog(cast)];
}

function buildLog(cast: BenchCast): EmittedLog {
  const { random, tokens } = cast;
  const address = tokens[random.skewedIndex(tokens.length, 2)] as Address;
  const parties = [addressTopic(wallet(cast)), addressTopic(wallet(cast))];
  const amount = random.hex(8).slice(2).padStart(64, '0');
  if (random.next() < cast.transferShare)
    return { address, topics: [TRANSFER_TOPIC, ...parties], data: `0x${amount}` };
  // The rest: an NFT's Transfer in one of three cases, otherwise approvals and trades.
  const kind = random.integer(0, 2);
  if (kind === 0) return { address, topics: [TRANSFER_TOPIC, ...parties, `0x${amount}` as Hash], data: '0x' };
  const data: Hex = kind === 1 ? `0x${amount}` : `0x${amount.repeat(4)}`;
  return { address, topics: [OTHER_TOPICS[kind - 1] as Hash, ...parties], data };
}

/** Receipts roots and blooms commit to nothing but what was emitted; the rest is written with the block. */
function withoutPlace(emitted: EmittedLog): Log {
  return {
    ...emitted,
    blockNumber: 0,
    blockHash: ZERO_HASH,
    transactionHash: ZERO_HASH,
    transactionIndex: 0,
    logIndex: 0,
    blockTimestamp: null,
  };
}

function writeBlock(
  cast: BenchCast,
  place: { readonly number: number; readonly timestamp: number },
  hash: Hash,
  header: string,
  transactions: readonly BenchTransaction[],
): BenchBlock {
  const inBlock = `"blockHash":"${hash}","blockNumber":"${quantity(place.number)}"`;
  const time = cast.logTimestamps ? `"blockTimestamp":"${quantity(place.timestamp)}",` : '';
  const blockLogs: BenchLog[] = [];
  let erc20Count = 0;
  let nftCount = 0;
  const receipts: string[] = [];
  const objects: string[] = [];
  transactions.forEach((transaction, index) => {
    const position = `${inBlock},"transactionHash":"${transaction.hash}","transactionIndex":"${quantity(index)}"`;
    const logs = transaction.logs.map((log) => {
      const own = `{"address":"${log.address}","topics":["${log.topics.join('","')}"],"data":"${log.data}",`;
      const text = `${own}${position},${time}"logIndex":"${quantity(blockLogs.length)}","removed":false}`;
      const topic0 = log.topics[0] ?? ZERO_HASH;
      blockLogs.push({ topic0, address: log.address, text });
      if (topic0 === TRANSFER_TOPIC && log.topics.length === 3) erc20Count += 1;
      else if (NFT_TOPICS.includes(topic0)) nftCount += 1;
      return text;
    });
    receipts.push(writeReceipt(transaction, position, logs));
    objects.push(writeTransaction(cast, transaction, `${inBlock},"transactionIndex":"${quantity(index)}"`));
  });
  const open = `${header.slice(0, -1)},"transactions":[`;
  return {
    hash,
    light: `${open}${transactions.map((one) => `"${one.hash}"`).join(',')}]}`,
    full: `${open}${objects.join(',')}]}`,
    receipts: `[${receipts.join(',')}]`,
    logs: blockLogs,
    erc20Count,
    nftCount,
  };
}

function writeReceipt(transaction: BenchTransaction, position: string, logs: readonly string[]): string {
  return (
    `{${position},"type":"0x2","from":"${transaction.from}","to":"${transaction.to}","contractAddress":null,"status":"0x1",` +
    `"gasUsed":"${quantity(GAS_PER_TRANSACTION)}","cumulativeGasUsed":"${quantity(transaction.cumulativeGas)}",` +
    `"effectiveGasPrice":"${GAS_PRICE}","logsBloom":"0x${transaction.bloom.toString('hex')}","logs":[${logs.join(',')}]}`
  );
}

function writeTransaction(cast: BenchCast, transaction: BenchTransaction, position: string): string {
  const { hash, from, to, input, signed } = transaction;
  if (signed !== null)
    return `${JSON.stringify(signed.fields).slice(0, -1)},"hash":"${hash}",${position},"from":"${from}"}`;
  return (
    `{"type":"0x2","chainId":"${quantity(cast.chainId)}","nonce":"0x1","gas":"${GAS_LIMIT}","gasPrice":"${GAS_PRICE}",` +
    `"maxFeePerGas":"${GAS_PRICE}","maxPriorityFeePerGas":"0x1","to":"${to}","value":"0x0","accessList":[],"input":"${input}",` +
    `"r":"0x${hash.slice(2).replace(/^0+/, '')}","s":"0x${hash.slice(2).replace(/^0+/, '')}","yParity":"0x0","v":"0x0",` +
    `"hash":"${hash}",${position},"from":"${from}"}`
  );
}
