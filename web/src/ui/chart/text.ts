import { catalogue } from '../../lib/i18n'

export const useText = catalogue(
  {
    chart: 'Chart',
    table: 'Table',
    showAs: 'Show as',
    time: 'Time',
    noPoints: 'No data in this period.',
    noNumbers: 'No numbers yet.',
    summary: (name: string, low: string, high: string, last: string) =>
      `${name}: lowest ${low}, highest ${high}, last ${last}`,
    checks: (good: number, checks: number) => `${good} of ${checks} checks succeeded`,
    noChecks: 'no checks',
    strip: 'State over time',
    names: {
      ms: 'Response time, ms',
      cpu: 'CPU, %',
      mem: 'Memory, %',
      cache: 'Swap, %',
      days: 'Days left',
      count: 'Processes',
      bytes: 'Size',
    } as Record<string, string>,
    disk: (name: string) => `Disk ${name}, %`,
    rows: (count: number, all: number) => `The last ${count} of ${all} points`,
    otherSlices: 'Others',
    firstRows: (count: number, all: number) => `The first ${count} of ${all} rows`,
  },
  {
    chart: 'Gráfico',
    table: 'Tabla',
    showAs: 'Mostrar como',
    time: 'Hora',
    noPoints: 'No hay datos en este periodo.',
    noNumbers: 'Aún no hay números.',
    summary: (name, low, high, last) => `${name}: mínimo ${low}, máximo ${high}, último ${last}`,
    checks: (good, checks) => `${good} de ${checks} comprobaciones correctas`,
    noChecks: 'sin comprobaciones',
    strip: 'Estado en el tiempo',
    names: {
      ms: 'Tiempo de respuesta, ms',
      cpu: 'CPU, %',
      mem: 'Memoria, %',
      cache: 'Intercambio, %',
      days: 'Días restantes',
      count: 'Procesos',
      bytes: 'Tamaño',
    },
    disk: (name) => `Disco ${name}, %`,
    rows: (count, all) => `Los últimos ${count} de ${all} puntos`,
    otherSlices: 'Otros',
    firstRows: (count, all) => `Las primeras ${count} de ${all} filas`,
  },
)

export function metricName(name: string): string {
  const t = useText.now()
  if (name.startsWith('disk ')) return t.disk(name.slice(5))
  return t.names[name] ?? name
}
