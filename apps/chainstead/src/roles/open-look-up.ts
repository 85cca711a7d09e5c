import type { ConsoleOptions } from '@chainstead/console';
import type { Egress } from '@chainstead/egress';
import type { RouteModule } from '@chainstead/http';
import { servicesOn } from '@chainstead/names';
import { createPictureReader } from '@chainstead/nft';
import { placeOfHash, type StateQuestions } from '@chainstead/state';
import type { RoleContext } from './role.ts';

/** What pages of the console look up by: the data API's own answers, nodes for hashes, and strangers' servers for pictures. */
export function openLookUp(
  { configuration, logger, clock }: RoleContext,
  of: { readonly routes: readonly RouteModule[]; readonly questions: StateQuestions; readonly egress: Egress },
): ConsoleOptions['lookUp'] {
  const { routes, questions, egress } = of;
  const { names, onDemand } = configuration;
  return {
    routes,
    placeOf: (chain, hash) => placeOfHash({ questions, logger }, chain, hash, onDemand.waitMs),
    nameServices: servicesOn(names.chains.map(({ chain }) => chain)),
    pictures: createPictureReader({ egress, ...onDemand, clock }),
  };
}
