import { walletTokenTransfersRoute } from '@chainstead/datasets';
import type { RouteModule } from '@chainstead/http';

/** Every route behind the key check, in the order of the OpenAPI document. */
export const ROUTES: readonly RouteModule[] = [walletTokenTransfersRoute];
