import { html } from 'hono/html';
import type { Html } from './html.ts';

/** A part of a page that moves by itself, with the notice that it does not. @param path as it was given to `ConsoleRoutes.live` */
export function livePart(path: string, content: Html): Html {
  return html`<p class="notice" role="status" data-live-notice hidden></p>
<div data-live hx-sse:connect="/console/events${path}" hx-swap="innerMorph" hx-config="sse.reconnectMaxDelay:10s" hx-sse:close="signed-out">${beat(content, 0)}</div>`;
}

/** As each message has it: what did not change is told from a lost connection by the number. @param at when it was sent, milliseconds since the epoch */
export function beat(content: Html, at: number): Html {
  return html`<div data-beat="${at}">${content}</div>`;
}
