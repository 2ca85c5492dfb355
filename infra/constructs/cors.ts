import { Duration } from 'aws-cdk-lib';
import { CorsHttpMethod, type CorsPreflightOptions } from 'aws-cdk-lib/aws-apigatewayv2';

/**
 * What pages of these origins may request, and the headers they may read (D52). Credentials are off: the token is a
 * header.
 */
export function corsFor(origins: readonly string[]): CorsPreflightOptions {
  return {
    allowOrigins: [...origins],
    allowMethods: [
      CorsHttpMethod.GET,
      CorsHttpMethod.POST,
      CorsHttpMethod.PUT,
      CorsHttpMethod.PATCH,
      CorsHttpMethod.DELETE,
    ],
    allowHeaders: [
      ...['Authorization', 'Content-Type', 'Dry-Run', 'Idempotency-Key', 'Max-Cost', 'Webhook-Secret-Rotate'],
      ...['Send-At', 'Send-Days', 'Send-Window', 'Send-Zone'],
    ],
    exposeHeaders: [
      'Dispatch-Id',
      'Webhook-Secret',
      'Template-Warning',
      'Link',
      'X-Request-Id',
      'Retry-After',
      'X-RateLimit-Limit',
      'X-RateLimit-Remaining',
      'X-RateLimit-Reset',
    ],
    // Browsers cache the answer this long, so a removed origin keeps access no longer.
    maxAge: Duration.minutes(10),
  };
}
