import { errorText } from '@chainstead/core';
import { remoteToolbox, serveOverStdio } from '@chainstead/mcp';
import { UsageError } from '../errors/usage-error.ts';
import type { Invocation } from '../session/command-context.ts';
import { VERSION } from '../version.ts';

/** Longer than the server gives a request. */
const REQUEST_TIMEOUT_MS = 45_000;

export async function serveAgent({ options, context }: Invocation<{ readonly url: string }>): Promise<void> {
  const address = addressOf(options.url);
  const key = context.environment.CHAINSTEAD_API_KEY;
  const toolbox = remoteToolbox(async (body) => {
    const response = await fetch(address, {
      method: 'POST',
      body,
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        ...(key !== undefined && key !== '' && { 'x-api-key': key }),
      },
      // A redirect could send the key elsewhere.
      redirect: 'error',
      signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
    }).catch((error: unknown) => {
      const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
      throw new Error(
        `The Chainstead server at ${address.origin} is unreachable: ${errorText(cause)}. Check --url`,
      );
    });
    return { status: response.status, text: await response.text() };
  });
  await serveOverStdio({
    toolbox,
    version: VERSION,
    input: process.stdin,
    output: process.stdout,
    signal: context.stopSignal,
  });
}

function addressOf(text: string): URL {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol) || url.username !== '' || url.password !== '')
    throw new UsageError(`--url ${JSON.stringify(text.slice(0, 100))} is not valid`, 'Use an http or https URL');
  url.pathname = `${url.pathname.replace(/\/(?:mcp\/?)?$/, '')}/mcp`;
  return url;
}
