import {
  Activity,
  Boxes,
  Cable,
  Cpu,
  File,
  Globe,
  ListTree,
  type LucideIcon,
  Radio,
  ScrollText,
  ServerCog,
  ShieldCheck,
  Signpost,
} from 'lucide-react'

/** The icon of each kind on the page where one is chosen. */
export const KIND_ICONS: Record<string, LucideIcon> = {
  scraper: Globe,
  tcp: Cable,
  ping: Activity,
  dns: Signpost,
  tls: ShieldCheck,
  process: Cpu,
  psaux: ListTree,
  file: File,
  script: ScrollText,
  push: Radio,
  nested: Boxes,
  dstat: ServerCog,
}
