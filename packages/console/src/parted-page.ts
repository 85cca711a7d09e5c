import type { Logger } from '@chainstead/core';
import { html, raw } from 'hono/html';
import { stream } from 'hono/streaming';
import type { ConsoleContext } from './console-page.ts';
import type { Html } from './layout/html.ts';

/** Where the content of a page belongs: nothing else on a page reads so. */
const SEAM = '<!-- content -->';

/**
 * Sends a page whose content comes bit by bit. What goes wrong meanwhile is told at its end, since the answer has begun.
 * @param frame the page around its content
 */
export async function sendParted(
  c: ConsoleContext,
  parts: AsyncIterable<Html>,
  { frame, logger }: { readonly frame: (content: Html) => Html; readonly logger: Logger },
): Promise<Response> {
  const [before = '', behind = ''] = String(await frame(html`${raw(SEAM)}`)).split(SEAM);
  const requestId = c.get('requestId');
  c.header('content-type', 'text/html; charset=UTF-8');
  // Proxies must not gather it, and nobody compresses it.
  c.header('cache-control', 'no-store, no-transform');
  c.header('x-accel-buffering', 'no');
  return stream(c, async (sent) => {
    await sent.write(before);
    try {
      for await (const part of parts) {
        if (sent.aborted) return;
        await sent.write(String(await part));
      }
    } catch (error) {
      logger.error({ request_id: requestId, err: error }, 'A page of the console broke off');
      await sent.write(
        String(
          await html`<p class="problem" role="alert">This broke off: what is missing here is not known. The server's log has more, by the request <code>${requestId}</code>.</p>`,
        ),
      );
    }
    await sent.write(behind);
  });
}
