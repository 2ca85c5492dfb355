export type InvocationResult =
  | { readonly ok: true; readonly payload: unknown }
  | {
      readonly ok: false;
      /** `payload_too_large` is about the request; a response that is too large is the function's error: `threw`. */
      readonly error: 'timeout' | 'crashed' | 'out_of_memory' | 'threw' | 'payload_too_large';
      readonly message: string;
    };
