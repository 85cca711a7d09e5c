import { withScope } from '@chainstead/http';
import { isLoopbackName } from '@chainstead/http/server';
import type { Closing } from './closing.ts';
import type { RoleContext } from './role.ts';

/** Null without its setting. @param opened closes its connections */
export async function openGraphqlApi({ configuration, logger, clock }: RoleContext, opened: Closing) {
  const { graphqlDatabaseUrl, host } = configuration.api;
  if (graphqlDatabaseUrl === null) return null;
  const { graphiqlPage, openGraphql } = await import('@chainstead/graphql');
  const chains = configuration.chainRegistry.all();
  const graphql = openGraphql({ databaseUrl: graphqlDatabaseUrl, chains, logger, clock });
  opened.defer(() => graphql.close());
  return {
    routes: [withScope('data', [graphql.routes])],
    openRoutes: isLoopbackName(host) ? [graphiqlPage] : [],
    endStreams: graphql.endStreams,
  };
}
