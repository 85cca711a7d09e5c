import { type Address, isQuantity, parseBigQuantity } from '@chainstead/core';
import type { Chain } from '../chain.ts';
import { ZK_BASE_TOKEN, ZK_STACK } from '../native-token-contracts.ts';
import { BLOB_GAS, blobGasPrice } from './blob-price.ts';

type Json = Readonly<Record<string, unknown>>;

/** JSON of a node. `header`: its `timestamp`, `baseFeePerGas`, `excessBlobGas` and `extraData`, if known. */
export interface ExecutedJson {
  readonly transaction: Json;
  readonly receipt: Json;
  readonly header: Json;
}

/** Their sum is the payer's loss in native tokens, apart from the value sent. */
export interface FeeParts {
  /** Wei per unit of used gas; 0: no native tokens are paid. Null: unknown. */
  readonly gasPrice: bigint | null;
  /** Wei apart from used gas; null: not charged. */
  readonly l1Fee: bigint | null;
  /** Null: no blobs. */
  readonly blobGasUsed: bigint | null;
  /** Wei; null: unknown, or no blobs. */
  readonly blobGasPrice: bigint | null;
}

/**
 * Fee of a transaction, by chain and fork. The rules, each with its source:
 * - Used gas at the effective price (EIP-1559). `gasUsed` contains Arbitrum's `gasUsedForL1` (nitro `arbos/tx_processor.go`)
 *   and excludes zkSync's refunds (zksync-era `api_server`).
 * - Monad: the whole gas limit (docs.monad.xyz, Gas pricing).
 * - OP Stack, Scroll: plus `l1Fee` (specs.optimism.io, L1 fees; scroll-tech/go-ethereum `rollup/fees`). From Isthmus on, plus the
 *   {@link operatorFee}.
 * - Mantle: until Arsia, `gasUsed` contains the fee for the parent chain (mantlenetworkio/op-geth `core/state_transition.go`, `l1Gas`).
 * - Celo: plus the gateway's fee, if it has a recipient (celo-blockchain `core/state_transition.go`).
 * - Celo's `feeCurrency` (CIP-64, CIP-66) and Tempo's `feeToken`: no native tokens.
 * - Blobs: blob gas at the receipt's price, or at the price of the header ({@link blobGasPrice}).
 * - Deposits and system transactions: nothing ({@link isUnpaid}).
 */
export function feeParts({ transaction, receipt, header }: ExecutedJson, { id }: Pick<Chain, 'id'>): FeeParts {
  if (isUnpaid(transaction, id) || isPaidInToken(transaction, receipt)) return NOTHING;
  const gasPrice = pricePaid(transaction, receipt, header);
  const extras = [
    hasSplitFees(receipt, header, id) ? quantity(receipt.l1Fee) : null,
    operatorFee(receipt, header, id),
    isNamed(transaction.gatewayFeeRecipient) ? quantity(transaction.gatewayFee) : null,
    id === MONAD && gasPrice !== null ? unusedGas(transaction, receipt) * gasPrice : null,
  ].filter((fee) => fee !== null);
  const l1Fee = extras.length === 0 ? null : extras.reduce((sum, fee) => sum + fee);
  return { gasPrice, l1Fee, ...blobParts({ transaction, receipt, header }, id) };
}

/** Wei. */
export function feesOf(
  gasUsed: bigint,
  parts: FeeParts,
): { readonly fee: bigint; readonly blobFee: bigint | null } {
  const { gasPrice, l1Fee, blobGasUsed, blobGasPrice: price } = parts;
  const blobFee = blobGasUsed === null || price === null ? null : blobGasUsed * price;
  return { fee: gasUsed * (gasPrice ?? 0n) + (l1Fee ?? 0n), blobFee };
}

/** The fee follows from transaction and receipt alone. */
export function isFeeKnownWithoutHeader(
  { transaction, receipt }: Omit<ExecutedJson, 'header'>,
  { id }: Pick<Chain, 'id'>,
): boolean {
  const hasFeeOfFork = (quantity(receipt.operatorFeeScalar) ?? 0n) > 0n || MANTLE_ARSIA.has(id);
  if (hasFeeOfFork && !isNamed(receipt.daFootprintGasScalar)) return false;
  if (hasBlobs(transaction) && !isNamed(receipt.blobGasPrice)) return false;
  return isNamed(receipt.effectiveGasPrice) || !isNamed(transaction.maxFeePerGas);
}

/**
 * The value was minted, and no account of this chain pays. OP Stack and Scroll: 0x7e. Arbitrum: 0x64 (on Ronin, it is sponsored instead).
 * ZK Stack: 0xff, and upgrades 0xfe (era-contracts `bootloader.yul`, `processL1Tx`).
 */
export function isDeposit(type: number, chainId: number): boolean {
  if (type === ARBITRUM_DEPOSIT) return !RONIN.has(chainId);
  return type === OP_DEPOSIT || (ZK_STACK.has(chainId) && (type === ZK_PRIORITY || type === ZK_UPGRADE));
}

/**
 * Another account pays the fee, and the sender the value. Ronin: type 0x64 (axieinfinity/ronin `core/types/sponsored_tx.go`).
 * ZK Stack: a paymaster paid the bootloader (matter-labs/zksync-web-era-docs, Building custom paymaster). Nodes name no paymaster,
 * but the payment is the first transfer of the base token to the bootloader.
 */
export function isSponsored(
  { type, from, logs }: { readonly type: number; readonly from: Address; readonly logs: readonly PaymentLog[] },
  chainId: number,
): boolean {
  if (type === ARBITRUM_DEPOSIT) return RONIN.has(chainId);
  if (!ZK_STACK.has(chainId)) return false;
  const payment = logs.find(({ address, topics: [event, , to] }) =>
    [address === ZK_BASE_TOKEN, event === TRANSFER, to === ZK_BOOTLOADER].every(Boolean),
  );
  return payment !== undefined && payment.topics[1] !== paddedAddress(from);
}

interface PaymentLog {
  readonly address: Address;
  readonly topics: readonly string[];
}

const NOTHING: FeeParts = { gasPrice: 0n, l1Fee: null, blobGasUsed: null, blobGasPrice: null };

const MONAD = 143;
const RONIN: ReadonlySet<number> = new Set([2020, 2021, 202_601]);
/** Unix seconds, from mantlenetworkio's `alloy-op-hardforks` and the rollup configuration of mantle-v2 v1.5.4. */
const MANTLE_ARSIA: ReadonlyMap<number, number> = new Map([
  [5000, 1_776_841_200],
  [5003, 1_774_422_000],
]);

const [OP_DEPOSIT, STATE_SYNC, ARBITRUM_DEPOSIT] = [0x7e, 0x7f, 0x64];
const [ZK_UPGRADE, ZK_PRIORITY] = [0xfe, 0xff];
const BLOB_TYPE = 3;

const paddedAddress = (address: string): string => `0x${address.slice(2).padStart(64, '0')}`;
const ZK_BOOTLOADER = paddedAddress('0x8001');
const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';

/**
 * Deposits, Polygon's state sync (PIP-74), and transactions that Optimism took from the parent chain before Bedrock
 * (l2geth `core/state_transition.go`). Arbitrum's internal transactions use no gas.
 */
function isUnpaid(transaction: Json, chainId: number): boolean {
  const type = typeOf(transaction);
  return isDeposit(type, chainId) || type === STATE_SYNC || transaction.queueOrigin === 'l1';
}

function isPaidInToken(transaction: Json, receipt: Json): boolean {
  return isNamed(transaction.feeCurrency) || isNamed(transaction.feeToken) || isNamed(receipt.feeToken);
}

/**
 * Isthmus: used gas × scalar ÷ 10^6 + constant. Jovian: used gas × scalar × 100 + constant (specs.optimism.io, Isthmus and Jovian,
 * Execution engine). Null: not charged.
 */
function operatorFee(receipt: Json, header: Json, chainId: number): bigint | null {
  const scalar = quantity(receipt.operatorFeeScalar);
  const constant = quantity(receipt.operatorFeeConstant);
  const gasUsed = scalar === null && constant === null ? null : quantity(receipt.gasUsed);
  if (gasUsed === null) return null;
  const scaled = gasUsed * (scalar ?? 0n);
  // Mantle took over the operator fee with Jovian's formula.
  const isOfJovian = isJovian(receipt, header) || MANTLE_ARSIA.has(chainId);
  return (isOfJovian ? scaled * 100n : scaled / 1_000_000n) + (constant ?? 0n);
}

/**
 * From Jovian on, `extraData` has version 1 and a minimum base fee (specs.optimism.io, Jovian, Execution engine), and receipts name
 * the scalar of the data footprint (op-geth `core/types/receipt.go`). Fork times differ between chains; these do not.
 */
function isJovian(receipt: Json, { extraData }: Json): boolean {
  return isNamed(receipt.daFootprintGasScalar) || (typeof extraData === 'string' && JOVIAN_EXTRA.test(extraData));
}

/** 17 bytes or more, and a version above Holocene's 0. */
const JOVIAN_EXTRA = /^0x(?!00)[0-9a-f]{34,}$/i;

function hasSplitFees(receipt: Json, header: Json, chainId: number): boolean {
  const arsia = MANTLE_ARSIA.get(chainId);
  if (arsia === undefined || isJovian(receipt, header) || isNamed(receipt.operatorFeeScalar)) return true;
  return (quantity(header.timestamp) ?? 0n) >= arsia;
}

function unusedGas({ gas }: Json, { gasUsed }: Json): bigint {
  const unused = (quantity(gas) ?? 0n) - (quantity(gasUsed) ?? 0n);
  return unused > 0n ? unused : 0n;
}

function pricePaid(transaction: Json, receipt: Json, header: Json): bigint | null {
  const reported = quantity(receipt.effectiveGasPrice);
  if (reported !== null) return reported;
  const limit = quantity(transaction.maxFeePerGas);
  const tip = quantity(transaction.maxPriorityFeePerGas);
  const base = quantity(header.baseFeePerGas);
  if (limit === null || tip === null || base === null) return quantity(transaction.gasPrice);
  return limit < base + tip ? limit : base + tip;
}

function blobParts({ transaction, receipt, header }: ExecutedJson, chainId: number) {
  if (!hasBlobs(transaction)) return { blobGasUsed: null, blobGasPrice: null };
  const { blobVersionedHashes: hashes } = transaction;
  const excess = quantity(header.excessBlobGas);
  const timestamp = quantity(header.timestamp);
  const isPriced = excess !== null && timestamp !== null;
  return {
    blobGasUsed: Array.isArray(hashes) ? BLOB_GAS * BigInt(hashes.length) : quantity(receipt.blobGasUsed),
    blobGasPrice:
      quantity(receipt.blobGasPrice) ?? (isPriced ? blobGasPrice(chainId, Number(timestamp), excess) : null),
  };
}

/** Receipts of other types have members of blobs too: the data footprint of Jovian. */
function hasBlobs(transaction: Json): boolean {
  const { blobVersionedHashes: hashes } = transaction;
  return Array.isArray(hashes) ? hashes.length > 0 : typeOf(transaction) === BLOB_TYPE;
}

function typeOf({ type }: Json): number {
  return isQuantity(type) ? Number(type) : 0;
}

function isNamed(value: unknown): boolean {
  return value !== undefined && value !== null;
}

function quantity(value: unknown): bigint | null {
  // Most members are absent.
  return value !== undefined && isQuantity(value) ? parseBigQuantity(value) : null;
}
