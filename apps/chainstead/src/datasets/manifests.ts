import type { AccountEvents } from './account-events/account-events.ts';
import { erc4626Vaults } from './erc4626-vaults/dataset.ts';

/** To add one, a line with `accountEvents` is enough: docs/internals/recipes.md#add-a-dataset. */
export const manifests: readonly AccountEvents[] = [erc4626Vaults];
