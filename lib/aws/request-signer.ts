import aws4 from 'aws4';

export interface AwsCredentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string | undefined;
}

interface Signer {
  readonly service: string;
  readonly region: () => Promise<string>;
  readonly credentials: () => Promise<AwsCredentials>;
}

/** The SDK corrects the clock, and knows endpoints of other regions. */
interface Signing {
  readonly signingDate?: Date | number | string;
  readonly signingRegion?: string;
}

interface Signable {
  readonly method: string;
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly body?: unknown;
}

/** Signs requests by Signature Version 4, in the form that the SDK asks for (`signer`): all headers of the request. */
export function requestSigner({ service, region, credentials }: Signer) {
  return {
    /** Sets the headers of the signature. */
    sign: async <Request extends Signable>(
      request: Request,
      { signingDate = new Date(), signingRegion }: Signing = {},
    ): Promise<Request> => {
      const keys = await credentials();
      const at = `${new Date(signingDate).toISOString().slice(0, 19).replaceAll(/[:-]/g, '')}Z`;
      const { method, path, body } = request;
      const asked = { method, path, body: body as string | undefined };
      const headers = { ...request.headers, 'x-amz-date': at };
      const signed = aws4.sign({ ...asked, headers, service, region: signingRegion ?? (await region()) }, keys);
      Object.assign(request.headers, signed.headers);
      return request;
    },
  };
}
