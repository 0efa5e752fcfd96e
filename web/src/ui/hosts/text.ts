import { catalogue, plural } from '../../lib/i18n'

/** Words about hosts that are offline, and about adding hosts. */
export const useHostText = catalogue(
  {
    hostsDown: (n: number) => `${plural(n, 'host is', 'hosts are')} offline`,
    lastSeen: 'last seen',
    moreHosts: (n: number) => `and ${n} more`,
    hostsDownBody: (n: number) =>
      `${n === 1 ? 'Its monitors are not checked and its jobs wait' : 'Their monitors are not checked and their jobs wait'}. Check that the machine is running, that the agent is started and that it can reach this server.`,
    makeLine: 'Create install command',
    createHostToken: 'Create token',
    installLine: 'install command with sudo',
    installLineUser: 'install command without sudo',
    asRoot: 'With sudo: a service of the machine that can run tasks as other users',
    asUser: 'Without sudo: a service of your user, or if you are root already',
    loopbackTitle: 'Other machines cannot reach this server',
    loopbackBody: (address: string) =>
      `${address} is a loopback address: it works only on the machine of the server. Restart the server with an address that the new machine can reach, then create the command:`,
    startCommand: 'start command',
    makeCommand: 'same with make, in a checkout',
    inCheckout: 'Or, in a checkout:',
    serverAddress: 'Address of this server',
    serverAddressHelp: 'Choose one that the new machine can reach.',
    lineOnce:
      'Run it on the new machine within one hour. It enrols one host and is shown only once.',
    needsAdmin: 'An admin of this organization can add hosts.',
  },
  {
    hostsDown: (n) => plural(n, 'equipo desconectado', 'equipos desconectados'),
    lastSeen: 'visto',
    moreHosts: (n) => `y ${n} más`,
    hostsDownBody: () =>
      'Sus monitores no se comprueban y sus trabajos esperan. Comprueba que la máquina está en marcha, que el agente está iniciado y que llega a este servidor.',
    makeLine: 'Crear comando de instalación',
    createHostToken: 'Crear el token',
    installLine: 'comando con sudo',
    installLineUser: 'comando sin sudo',
    asRoot: 'Con sudo: un servicio de la máquina que puede ejecutar tareas como otros usuarios',
    asUser: 'Sin sudo: un servicio de tu usuario, o si ya eres root',
    loopbackTitle: 'Otras máquinas no llegan a este servidor',
    loopbackBody: (address) =>
      `${address} es una dirección de bucle local: solo funciona en la máquina del servidor. Reinicia el servidor con una dirección accesible desde la máquina nueva y crea el comando después:`,
    startCommand: 'comando de inicio',
    makeCommand: 'lo mismo con make, en una copia del repositorio',
    inCheckout: 'O, en una copia del repositorio:',
    serverAddress: 'Dirección de este servidor',
    serverAddressHelp: 'Elige una a la que llegue la máquina nueva.',
    lineOnce:
      'Ejecútalo en la máquina nueva antes de una hora. Registra un equipo y se muestra una vez.',
    needsAdmin: 'Un administrador de esta organización puede añadir equipos.',
  },
)
