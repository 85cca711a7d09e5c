/** Update fractions of the blob price (EIP-4844, 7691, 7840; EIP-7892 changes them by time alone), newest first. */
type Fork = readonly [activated: number, fraction: bigint];

const FRACTIONS = { cancun: 3_338_477n, prague: 5_007_716n, first: 8_346_193n, second: 11_684_671n };
const forks = (cancun: number, prague: number, first: number, second: number): readonly Fork[] => [
  [second, FRACTIONS.second],
  [first, FRACTIONS.first],
  [prague, FRACTIONS.prague],
  [cancun, FRACTIONS.cancun],
];

interface Schedule {
  readonly forks: readonly Fork[];
  /** Wei. @default 1, as in EIP-4844 */
  readonly minimum?: bigint;
}

/** From the `params/config.go` of bnb-chain/bsc: `DefaultPragueBlobConfigBSC` and `…OsakaBlobConfigBSC` equal Cancun's. */
const BSC: Schedule = { forks: [[0, FRACTIONS.cancun]] };
/** From the chain specifications of gnosischain/reth_gnosis (`src/blobs.rs`): equal at Cancun, Prague and Osaka. */
const GNOSIS: Schedule = { forks: [[0, 1_112_826n]], minimum: 1_000_000_000n };

/** Unix seconds, from ethereum/go-ethereum's `params/config.go` (Holesky: as of v1.16.4). A header with `excessBlobGas` is of Cancun or later. */
const SCHEDULES: ReadonlyMap<number, Schedule> = new Map([
  [1, { forks: forks(1_710_338_135, 1_746_612_311, 1_765_290_071, 1_767_747_671) }],
  [17_000, { forks: forks(1_707_305_664, 1_740_434_112, 1_759_800_000, 1_760_389_824) }],
  [11_155_111, { forks: forks(1_706_655_072, 1_741_159_776, 1_761_017_184, 1_761_607_008) }],
  [560_048, { forks: forks(0, 1_742_999_832, 1_762_365_720, 1_762_955_544) }],
  [56, BSC],
  [97, BSC],
  [100, GNOSIS],
  [10_200, GNOSIS],
]);
export const BLOB_GAS = 131_072n;

/** Wei, by the newest fork that is listed; null: the schedule is unknown. */
export function blobGasPrice(chainId: number, timestamp: number, excessBlobGas: bigint): bigint | null {
  const schedule = SCHEDULES.get(chainId);
  const fraction = schedule?.forks.find(([activated]) => timestamp >= activated)?.[1];
  if (fraction === undefined || excessBlobGas > EXPONENT_MAX * fraction) return null;
  return exponential(schedule?.minimum ?? 1n, excessBlobGas, fraction);
}

/** No chain comes near; the work grows with it. */
const EXPONENT_MAX = 100n;

/** `fake_exponential` of EIP-4844. */
function exponential(factor: bigint, numerator: bigint, denominator: bigint): bigint {
  let sum = 0n;
  let term = factor * denominator;
  for (let index = 1n; term > 0n; index++) {
    sum += term;
    term = (term * numerator) / (denominator * index);
  }
  return sum / denominator;
}
