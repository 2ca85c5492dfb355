import { createHash, timingSafeEqual } from 'node:crypto';
import { Refusal } from './refusal.ts';

/** The header in which the edge shows its key. CloudFront replaces what a viewer sends under that name. */
const keyHeader = 'x-origin-key';

/** What the edge says of its viewer: address and port. */
const viewerHeader = 'cloudfront-viewer-address';

/** What of a request is looked at here. */
interface EdgeEvent {
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** Of the gateway's stage: `edgeKeys` are those that the edge may show, apart by commas. No request says them. */
  readonly stageVariables?: Readonly<Record<string, string | undefined>> | undefined;
  /** Of the edge's viewer; only where the edge's key was shown. */
  readonly viewerAddress?: string | undefined;
}

/**
 * Lets only those requests through that came by the edge: they show one of its keys. All others are 403 before anything of
 * them is read, and so is every one while the stage names no key. What the edge says of the viewer holds for these requests
 * and for no other. Without an edge every request is let through, and its headers say nothing.
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
    // All of them are compared, so the time tells nothing.
    if (accepted.filter((key) => timingSafeEqual(key, digest)).length === 0) {
      throw new Refusal('edge_required', 'this service answers at its public address only');
    }
    // The key goes no further.
    Object.assign(event, { headers, viewerAddress: viewerAddressOf(headers[viewerHeader]) });
  };
}

/** The address that a request came from: the edge's viewer where there is an edge, else the gateway's caller. */
export function sourceAddressOf({
  viewerAddress,
  requestContext,
}: EdgeEvent & { readonly requestContext: { readonly http: { readonly sourceIp: string } } }): string {
  return viewerAddress ?? requestContext.http.sourceIp;
}

/** The address in `address:port`; IPv6 has no brackets there. Undefined for anything else. */
function viewerAddressOf(header: string | undefined): string | undefined {
  return /^([0-9a-f.:]{2,45}):\d{1,5}$/i.exec(header ?? '')?.[1];
}

function digestOf(key: string): Buffer {
  return createHash('sha256').update(key).digest();
}
