import { createHmac } from 'node:crypto';
import { provideReaderLogin } from '@chainstead/db/server';
import { loadServerSecret } from '@chainstead/http/server';
import type { Configuration } from '../configuration/index.ts';
import type { Storage } from '../session/storage.ts';

const CONNECTIONS_MAX = 60;

/** The same passwords in all processes. @throws DatabaseError READER_ROLE_MISSING */
export async function withReaderUrls(configuration: Configuration, storage: Storage): Promise<Configuration> {
  const { api } = configuration;
  const provide = async (setting: 'GRAPHQL' | 'MCP_SQL', purpose: string): Promise<string> =>
    provideReaderLogin({
      ...{ url: storage.url, makerUrl: storage.roleMakerUrl, purpose, connectionsMax: CONNECTIONS_MAX },
      ...{ setting, urlSetting: setting === 'GRAPHQL' ? 'GRAPHQL_DATABASE_URL' : 'MCP_DATABASE_URL' },
      password: createHmac('sha256', await loadServerSecret(storage.database, 'reader-roles'))
        .update(purpose)
        .digest('base64url'),
    });
  return {
    ...configuration,
    api: {
      ...api,
      graphqlDatabaseUrl: api.graphqlDatabaseUrl ?? (api.hasGraphql ? await provide('GRAPHQL', 'graphql') : null),
      mcpDatabaseUrl: api.mcpDatabaseUrl ?? (api.hasAgentSql ? await provide('MCP_SQL', 'agent') : null),
    },
  };
}
