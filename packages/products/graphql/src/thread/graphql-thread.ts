/** Runs GraphQL operations. executor.ts starts it. */
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { createLogger, systemClock } from '@chainstead/core';
import { requestEnded } from '../refusal.ts';
import type { ThreadRequest, ThreadSettings } from './executor.ts';
import { openResponder } from './responder.ts';

const settings: ThreadSettings = workerData;
const parent = parentPort;
if (parent === null) throw new TypeError('graphql-thread.ts runs in a thread only');

const logger = createLogger({
  level: settings.logLevel,
  destination: { write: (line) => parent.postMessage(line) },
});
const responder = openResponder(settings, logger, systemClock);
parent.on('message', (message: { readonly request: ThreadRequest; readonly port: MessagePort } | null) => {
  if (message === null) void close();
  else serve(message.request, message.port);
});

function serve(request: ThreadRequest, port: MessagePort): void {
  const left = new AbortController();
  const replies = responder.respond(request, left.signal);
  port.on('message', () => void reply());
  port.on('close', () => {
    left.abort(requestEnded());
    void replies.return();
  });

  async function reply(): Promise<void> {
    const { done, value } = await replies.next();
    if (done === true) port.postMessage({ type: 'ended' });
    else port.postMessage(value, 'body' in value ? [value.body.buffer] : []);
  }
}

async function close(): Promise<void> {
  await responder.close();
  process.exit(0);
}
