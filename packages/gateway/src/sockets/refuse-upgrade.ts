import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';

/** Answers a request for a WebSocket with an error in the API's envelope, and ends the connection. */
export function refuseUpgrade(
  socket: Duplex,
  refusal: { readonly status: number; readonly message: string; readonly requestId: string },
): void {
  const { status, message, requestId } = refusal;
  const body = JSON.stringify({ message });
  const retry = status === 429 || status === 503 ? 'retry-after: 5\r\n' : '';
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nconnection: close\r\ncontent-type: application/json\r\n${retry}` +
      `x-request-id: ${requestId}\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
    () => socket.destroy(),
  );
}
