import { withScope } from '@chainstead/http';
import { isLoopbackName } from '@chainstead/http/server';
import type { Closing } from './closing.ts';
import type { RoleContext } from './role.ts';

/** Null without its setting. @param opened closes its connections */
export async function openGraphqlApi({ configuration, logger, clock }: RoleContext, opened: Closing) {
  const { hasGraphql, host } = configuration.api;
  const { analystUrl } = configuration.database;
  if (analystUrl === null || !hasGraphql) return null;
  const { graphiqlPage, openGraphql } = await import('@chainstead/graphql');
  const chains = configuration.chainRegistry.all();
  const graphql = openGraphql({ databaseUrl: analystUrl, chains, logger, clock });
  opened.defer(() => graphql.close());
  return {
    routes: [withScope('data', [graphql.routes])],
    openRoutes: isLoopbackName(host) ? [graphiqlPage(configuration.chains[0]?.chain.key)] : [],
    endStreams: graphql.endStreams,
  };
}
