import { componentsAsRead, type Template, type TemplateFields } from './template.ts';

/** Generated ids begin here and stay below 2^53, because webhooks send them as numbers. */
const firstId = 1_300_000_000_000_001;

/** Templates are found by id, by (WABA, name, language), and by WABA in order of creation. */
export class TemplateStore {
  readonly #byId = new Map<string, Template>();
  readonly #idByKey = new Map<string, string>();
  readonly #idsByWaba = new Map<string, Set<string>>();
  #created = 0;
  #changes = 0;

  /** The count grows with every change, so that pages reload. */
  get changes(): number {
    return this.#changes;
  }

  all(): readonly Template[] {
    return [...this.#byId.values()];
  }

  get size(): number {
    return this.#byId.size;
  }

  get(id: string): Template | undefined {
    return this.#byId.get(id);
  }

  find(wabaId: string, name: string, language: string): Template | undefined {
    return this.#byId.get(this.#idByKey.get(keyOf(wabaId, name, language)) ?? '');
  }

  ofWaba(wabaId: string): readonly Template[] {
    return [...(this.#idsByWaba.get(wabaId) ?? [])].flatMap((id) => this.#byId.get(id) ?? []);
  }

  countOf(wabaId: string): number {
    return this.#idsByWaba.get(wabaId)?.size ?? 0;
  }

  /** Returns all languages of a name. */
  named(wabaId: string, name: string): readonly Template[] {
    return this.ofWaba(wabaId).filter((template) => template.fields.name === name);
  }

  /** Adds a template under the given or the next id. (WABA, name, language) must be free. */
  add(wabaId: string, fields: TemplateFields, id?: string): Template {
    this.#created += 1;
    const template: Template = {
      id: id ?? String(firstId + this.#created),
      wabaId,
      place: this.#created,
      fields,
      components: componentsAsRead(fields.components),
    };
    if (this.#byId.has(template.id)) throw new Error(`template id ${template.id} is taken`);
    const ids = this.#idsByWaba.get(wabaId) ?? new Set();
    this.#idsByWaba.set(wabaId, ids.add(template.id));
    this.#put(template);
    return template;
  }

  /** Replaces the fields; id and place stay. (WABA, name, language) must be its own or free. */
  replace(template: Template, fields: TemplateFields): Template {
    this.#idByKey.delete(keyOf(template.wabaId, template.fields.name, template.fields.language));
    const replaced = { ...template, fields, components: componentsAsRead(fields.components) };
    this.#put(replaced);
    return replaced;
  }

  remove(template: Template): void {
    this.#changes += 1;
    this.#byId.delete(template.id);
    this.#idByKey.delete(keyOf(template.wabaId, template.fields.name, template.fields.language));
    this.#idsByWaba.get(template.wabaId)?.delete(template.id);
  }

  #put(template: Template): void {
    const key = keyOf(template.wabaId, template.fields.name, template.fields.language);
    if (this.#idByKey.has(key)) throw new Error(`${template.fields.name} in ${template.fields.language} exists`);
    this.#changes += 1;
    this.#byId.set(template.id, template);
    this.#idByKey.set(key, template.id);
  }
}

function keyOf(wabaId: string, name: string, language: string): string {
  return `${wabaId}/${name}/${language}`;
}
