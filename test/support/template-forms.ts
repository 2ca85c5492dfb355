import { type FormPart, formBody } from './multipart.ts';
import { type CreateOptions, create, plainBody, type templateProbes } from './template-probes.ts';

export const imageHeader = { type: 'HEADER', format: 'IMAGE' };

export function part(headers: string, content: string | Buffer): FormPart {
  return { headers: headers.split('\n'), content };
}

export function field(name: string, content: string | Buffer): FormPart {
  return part(`Content-Disposition: form-data; name="${name}"`, content);
}

export function file(content: string | Buffer, type = 'image/png'): FormPart {
  return part(`Content-Disposition: form-data; name="file"; filename="a"\nContent-Type: ${type}`, content);
}

/** Makes the part `template` of a request with a picture header and `changes`. */
export function templateField(probes: ReturnType<typeof templateProbes>, changes = {}): FormPart {
  return field('template', JSON.stringify(probes.draft({ components: [imageHeader, plainBody], ...changes })));
}

export const boundaryIs = (boundary: string) => ({ 'content-type': `multipart/form-data; boundary=${boundary}` });

/** Creates a template from bytes, sent as a form with boundary `b`. */
export function sendForm(body: Buffer, options: CreateOptions = {}) {
  return create(body, { headers: boundaryIs('b'), ...options });
}

export function postForm(parts: readonly FormPart[], options: CreateOptions = {}) {
  return sendForm(formBody(parts, 'b'), options);
}
