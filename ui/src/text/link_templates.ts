// Links out to a tracing UI: the administrator's template with the ids put in. Only http and https: a template is
// configuration, but a link that runs code would be one too many ways to be wrong.
export function fillLink(template: string | undefined, values: Record<string, string>): string | undefined {
  if (!template) return undefined;
  const missing = Object.keys(values).some((name) => template.includes(`{${name}}`) && !values[name]);
  if (missing) return undefined;
  const link = template.replace(/\{(\w+)\}/g, (all, name) => (name in values ? encodeURIComponent(values[name]) : all));
  return /^https?:\/\//i.test(link) || /^\/(?!\/)/.test(link) ? link : undefined;
}
