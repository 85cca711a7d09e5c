/** Slots of the beacon chain at which the form of a header's proof changes. */
export interface BeaconNetwork {
  /** Unix seconds. */
  readonly genesisTime: number;
  /** The first without proof of work. */
  readonly mergeBlock: number;
  /** Total difficulty of the merge block and all later ones. */
  readonly finalDifficulty: bigint;
  readonly capellaSlot: number;
  readonly denebSlot: number;
  /** Null: not scheduled. */
  readonly gloasSlot: number | null;
}

export const SLOT_SECONDS = 12;

const NETWORKS: ReadonlyMap<number, BeaconNetwork> = new Map([
  [
    1,
    {
      genesisTime: 1_606_824_023,
      mergeBlock: 15_537_394,
      finalDifficulty: 58_750_003_716_598_352_816_469n,
      capellaSlot: 6_209_536,
      denebSlot: 8_626_176,
      gloasSlot: null,
    },
  ],
  [
    11_155_111,
    {
      genesisTime: 1_655_733_600,
      mergeBlock: 1_450_409,
      finalDifficulty: 17_000_018_015_853_232n,
      capellaSlot: 1_818_624,
      denebSlot: 4_243_456,
      gloasSlot: 11_296_768,
    },
  ],
]);

export function beaconNetwork(chainId: number): BeaconNetwork | null {
  return NETWORKS.get(chainId) ?? null;
}
