import type { Graphql } from '@chainstead/graphql';
import { withScope } from '@chainstead/http';
import type { RoleContext } from './role.ts';

/** Returns GraphQL for keys with the scope `data`; null without its setting. Its libraries are loaded with the setting only. */
export async function openGraphqlApi({ configuration, logger, clock }: RoleContext): Promise<Graphql | null> {
  const { graphqlDatabaseUrl } = configuration.api;
  if (graphqlDatabaseUrl === null) return null;
  // Without it, the libraries print a notice at each start.
  process.env.GRAPHILE_ENV ??= 'production';
  const { openGraphql } = await import('@chainstead/graphql');
  const graphql = openGraphql({ databaseUrl: graphqlDatabaseUrl, logger, clock });
  return { ...graphql, routes: withScope('data', [graphql.routes]) };
}
