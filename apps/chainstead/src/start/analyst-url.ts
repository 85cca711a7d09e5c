import { createHmac } from 'node:crypto';
import { provideReaderLogin, readerPasswordOf } from '@chainstead/db/server';
import { loadServerSecret } from '@chainstead/http/server';
import type { Configuration } from '../configuration/index.ts';
import type { Storage } from '../session/storage.ts';

/** The same password in all processes. @throws DatabaseError READER_ROLE_MISSING */
export async function withAnalystUrl(configuration: Configuration, storage: Storage): Promise<Configuration> {
  const { api, database } = configuration;
  if (database.analystUrl !== null || !(api.hasAgentSql || api.hasGraphql)) return configuration;
  // Past a pooler in transaction mode: it does not know the role.
  const url = storage.isEmbedded ? storage.url : storage.roleMakerUrl;
  const analystUrl = await provideReaderLogin({
    ...{ url, makerUrl: storage.roleMakerUrl },
    password: readerPasswordOf(url) ?? (await storedPassword(storage)),
  });
  return { ...configuration, database: { ...database, analystUrl } };
}

async function storedPassword({ database }: Storage): Promise<string> {
  const secret = await loadServerSecret(database, 'reader-roles');
  return createHmac('sha256', secret).update('analyst').digest('base64url');
}
