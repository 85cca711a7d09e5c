import { Pool } from 'undici';
import { SoakError } from './soak-error.ts';

const CONNECTIONS = 8;

/**
 * Asks for each path once, a few at the same time, and waits for the answers.
 * @throws SoakError when one is no 200
 */
export async function askOnce(plan: {
  readonly url: string;
  readonly apiKey: string;
  readonly paths: readonly string[];
}): Promise<void> {
  const pool = new Pool(plan.url, { connections: CONNECTIONS });
  try {
    await Promise.all(
      plan.paths.map(async (path) => {
        const answer = await pool.request({ method: 'GET', path, headers: { 'x-api-key': plan.apiKey } });
        const text = await answer.body.text();
        if (answer.statusCode !== 200)
          throw new SoakError(
            `GET ${path} answered ${answer.statusCode}: ${text.slice(0, 300)}`,
            'The lines of the program above say why',
          );
      }),
    );
  } finally {
    await pool.destroy();
  }
}
