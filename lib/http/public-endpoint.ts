import type { BodyReader } from './body.ts';
import { type Endpoint, endpoint } from './endpoint.ts';

/** Frames a public route, without a caller. */
export function publicEndpoint(body: BodyReader, handle: Endpoint): Endpoint {
  return endpoint([body], handle);
}
