/** Slots of the beacon chain at which the form of a header's proof changes. */
export interface BeaconNetwork {
  /** Unix seconds. */
  readonly genesisTime: number;
  readonly mergeBlock: number;
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
      capellaSlot: 1_818_624,
      denebSlot: 4_243_456,
      gloasSlot: 11_296_768,
    },
  ],
]);

export function beaconNetwork(chainId: number): BeaconNetwork | null {
  return NETWORKS.get(chainId) ?? null;
}
