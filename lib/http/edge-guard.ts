import { createHash, timingSafeEqual } from 'node:crypto';
import { Refusal } from './refusal.ts';

/** The edge shows its key in this header. CloudFront replaces a viewer's header of that name. */
const keyHeader = 'x-origin-key';

/** The edge reports the viewer's address and port in this header. */
const viewerHeader = 'cloudfront-viewer-address';

interface EdgeEvent {
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** No request can set variables of the gateway's stage. `edgeKeys` are the accepted keys, separated by commas. */
  readonly stageVariables?: Readonly<Record<string, string | undefined>> | undefined;
  /** The address is set only after the edge has shown its key. */
  readonly viewerAddress?: string | undefined;
}

/**
 * Refuses with 403 a request without a key of the edge, and every request while the stage names none. Only then does
 * the edge's viewer address count. Without an edge all requests pass.
 */
export function edgeGuard({
  hasEdge,
}: {
  readonly hasEdge: boolean;
}): (request: { readonly event: EdgeEvent }) => Promise<void> {
  return async ({ event }) => {
    if (!hasEdge) return;
    const { [keyHeader]: shown = '', ...headers } = event.headers;
    const keys = (event.stageVariables?.['edgeKeys'] ?? '').split(',').filter((key) => key !== '');
    const digest = digestOf(shown);
    const accepted = keys.map(digestOf);
    // The comparison covers all keys, so that time reveals nothing.
    if (accepted.filter((key) => timingSafeEqual(key, digest)).length === 0) {
      throw new Refusal('edge_required', 'this service answers at its public address only');
    }
    // The key must not reach pages or logs.
    Object.assign(event, { headers, viewerAddress: viewerAddressOf(headers[viewerHeader]) });
  };
}

/** Returns the edge's viewer where there is an edge, else the gateway's caller. */
export function sourceAddressOf({
  viewerAddress,
  requestContext,
}: EdgeEvent & { readonly requestContext: { readonly http: { readonly sourceIp: string } } }): string {
  return viewerAddress ?? requestContext.http.sourceIp;
}

/** Returns the address in `address:port`, or undefined. IPv6 has no brackets there. */
function viewerAddressOf(header: string | undefined): string | undefined {
  return /^([0-9a-f.:]{2,45}):\d{1,5}$/i.exec(header ?? '')?.[1];
}

function digestOf(key: string): Buffer {
  return createHash('sha256').update(key).digest();
}
