import { once } from 'node:events';
import { onTestFinished } from 'vitest';
import { WebSocket } from 'ws';

/** A separate WebSocket client: calls, and received notifications. */
export interface RpcSocket {
  readonly socket: WebSocket;
  /** Returns the result. @throws Error with the response's error */
  call(method: string, params?: readonly unknown[]): Promise<unknown>;
  /** @returns the notifications in order, as they arrive */
  subscribe(
    ...params: readonly unknown[]
  ): Promise<{ readonly id: string; readonly reported: readonly unknown[] }>;
}

interface Message {
  readonly id?: number;
  readonly result?: unknown;
  readonly error?: { readonly message: string };
  readonly params?: { readonly subscription: string; readonly result: unknown };
}

/**
 * Opens a socket that closes with the test.
 * @throws Error if a notification arrives for a subscription that the client does not know yet
 */
export async function openRpcSocket(url: string): Promise<RpcSocket> {
  const socket = new WebSocket(url);
  const calls = new Map<number, (message: Message) => void>();
  const reported = new Map<string, unknown[]>();
  let last = 0;
  socket.on('message', (data) => {
    const message = JSON.parse(String(data)) as Message;
    if (message.id !== undefined) calls.get(message.id)?.(message);
    else if (message.params !== undefined) {
      const subscription = reported.get(message.params.subscription);
      if (subscription === undefined) throw new Error('A notification came before its subscription was known');
      subscription.push(message.params.result);
    }
  });
  await once(socket, 'open');
  onTestFinished(() => socket.terminate());

  async function ask(
    method: string,
    params: readonly unknown[],
    onResult: (result: unknown) => void,
  ): Promise<unknown> {
    last += 1;
    const id = last;
    const message = await new Promise<Message>((resolve) => {
      calls.set(id, (answer) => {
        if (answer.error === undefined) onResult(answer.result);
        resolve(answer);
      });
      socket.send(JSON.stringify({ jsonrpc: '2.0', id, method, params }));
    });
    if (message.error !== undefined) throw new Error(message.error.message);
    return message.result;
  }

  return {
    socket,
    call: (method, params = []) => ask(method, params, () => undefined),
    async subscribe(...params) {
      const list: unknown[] = [];
      const id = String(await ask('eth_subscribe', params, (result) => reported.set(String(result), list)));
      return { id, reported: list };
    },
  };
}
