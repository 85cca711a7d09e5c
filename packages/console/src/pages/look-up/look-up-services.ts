import type { AptosNetwork } from '@chainstead/aptos';
import type { Chain } from '@chainstead/chains';
import type { Hash } from '@chainstead/core';
import type { ReadDatabase } from '@chainstead/db';
import type { InnerApi } from '@chainstead/http';
import type { NameService } from '@chainstead/names';
import type { PictureReader } from '@chainstead/nft';
import type { HashPlace } from '@chainstead/state';

/** What pages of what is indexed read by. */
export interface LookUpServices {
  /** Those of the configuration, in its order. */
  readonly chains: readonly Chain[];
  readonly networks: readonly AptosNetwork[];
  /** The data API: tables show its answers. */
  readonly data: InnerApi;
  /** Of requests. */
  readonly reads: ReadDatabase;
  /** Null: no node has the hash; undefined: none told in time. */
  placeOf(chain: Chain, hash: Hash): Promise<HashPlace | null | undefined>;
  readonly pictures: PictureReader;
  /** Whose contracts can be asked for names. */
  readonly nameServices: readonly NameService[];
}
