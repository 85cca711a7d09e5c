import { createHmac } from 'node:crypto';
import { provideReaderLogin } from '@chainstead/db/server';
import { loadServerSecret } from '@chainstead/http/server';
import type { Configuration } from '../configuration/index.ts';
import type { Storage } from '../session/storage.ts';

const CONNECTIONS_MAX = 120;

/** The same password in all processes. @throws DatabaseError READER_ROLE_MISSING */
export async function withAnalystUrl(configuration: Configuration, storage: Storage): Promise<Configuration> {
  const { api, database } = configuration;
  if (database.analystUrl !== null || !(api.hasAgentSql || api.hasGraphql)) return configuration;
  const secret = await loadServerSecret(storage.database, 'reader-roles');
  const analystUrl = await provideReaderLogin({
    url: storage.url,
    makerUrl: storage.roleMakerUrl,
    connectionsMax: CONNECTIONS_MAX,
    password: createHmac('sha256', secret).update('analyst').digest('base64url'),
  });
  return { ...configuration, database: { ...database, analystUrl } };
}
