import { type Database, sql } from '@chainstead/db';
import { expect } from 'vitest';
import { type AnsweredStream, type Client, MINIMAL } from './example-stream-api.ts';

/** Test helpers for the streams of an API. */
export interface ExampleStreams {
  /** Creates a unique stream, so that no existing one is returned. */
  create(given?: object): Promise<AnsweredStream>;
  get(id: string): Promise<AnsweredStream>;
  /** Bypasses the routes, like the program itself. */
  setStatus(id: string, status: string): Promise<void>;
}

let count = 0;

export function exampleStreams(ask: Client, database: Database): ExampleStreams {
  return {
    async create(given = {}) {
      const description = `Stream ${++count}`;
      const { status, body } = await ask<AnsweredStream>('PUT', '/streams/evm', {
        ...MINIMAL,
        description,
        ...given,
      });
      expect(status).toBe(200);
      return body;
    },
    get: async (id) => (await ask<AnsweredStream>('GET', `/streams/evm/${id}`)).body,
    async setStatus(id, status) {
      await database.query(
        sql`UPDATE streams SET status = ${status}, status_message = ${status} WHERE id = ${id}`,
      );
    },
  };
}
