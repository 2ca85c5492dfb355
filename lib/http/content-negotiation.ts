/**
 * Tells whether a request prefers `type` to JSON: JSON has a smaller weight, comes later, or is missing. Wildcards and
 * unknown types get JSON (D59).
 */
export function prefersType(type: string, accept: string | undefined): boolean {
  const named = (accept ?? '').split(',').map(rangeOf);
  const wanted = named.find((range) => range.type === type);
  const json = named.find((range) => range.type === 'application/json');
  if (wanted === undefined || wanted.weight === 0) return false;
  if (json === undefined || json.weight < wanted.weight) return true;
  return json.weight === wanted.weight && named.indexOf(wanted) < named.indexOf(json);
}

function rangeOf(text: string): { readonly type: string; readonly weight: number } {
  const [type = '', ...parameters] = text.split(';').map((part) => part.trim().toLowerCase());
  const weight = parameters.find((parameter) => parameter.startsWith('q='));
  const given = weight === undefined ? 1 : Number(weight.slice(2));
  return { type, weight: given >= 0 && given <= 1 ? given : 0 };
}
