import { html } from 'hono/html';
import type { Html } from './html.ts';

export function livePart(path: string, content: Html): Html {
  return html`<p class="notice" role="status" data-live-notice hidden></p>
<div data-live hx-sse:connect="/console/events${path}" hx-swap="innerMorph" hx-config="sse.reconnectMaxDelay:10s" hx-sse:close="end">${beat(content, 0)}</div>`;
}

/** `at` (ms since the epoch) distinguishes unchanged content from a lost connection. */
export function beat(content: Html, at: number): Html {
  return html`<div data-beat="${at}">${content}</div>`;
}
