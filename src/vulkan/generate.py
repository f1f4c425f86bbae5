#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes the driver's tables from the registry.

usage: generate.py vk.xml announced.txt OUT.h OUT.c

The header has the prototypes of all commands that the driver owes for what announced.txt names, features and
properties as one flat struct each, and the extensions as an enumeration. The source has the table of commands by name,
stubs for the commands of graphics, what copies features and properties from and to the structs of applications, and the
formats with their names.
"""
import re
import sys
import xml.etree.ElementTree as xml

# Commands of graphics that the registry doesn't tell by their queues.
GRAPHICS = {'vkCreateGraphicsPipelines', 'vkCreateFramebuffer', 'vkDestroyFramebuffer', 'vkCreateRenderPass',
            'vkCreateRenderPass2', 'vkDestroyRenderPass', 'vkGetRenderAreaGranularity', 'vkGetRenderingAreaGranularity',
            'vkCmdBeginQueryIndexedEXT', 'vkCmdEndQueryIndexedEXT'}
LEVELS = {'VkInstance': 'INSTANCE', 'VkPhysicalDevice': 'PHYSICAL_DEVICE'}


def is_vulkan(element):
    """Whether it belongs to Vulkan, not to Vulkan SC alone."""
    return 'vulkan' in (element.get('api') or element.get('supported') or 'vulkan').split(',')


class Registry:
    def __init__(self, path, announced):
        self.root = xml.parse(path).getroot()
        self.announced = {kind: [name for k, name in announced if k == kind] for kind in ('extension', 'feature')}
        self.commands, self.aliases = {}, {}
        for element in self.root.find('commands'):
            if element.get('alias'):
                self.aliases[element.get('name')] = element.get('alias')
            elif is_vulkan(element):
                self.commands[element.find('proto/name').text] = element
        self.structs = {e.get('name'): e for e in self.root.find('types')
                        if e.get('category') == 'struct' and not e.get('alias')}
        self.struct_aliases = {e.get('name'): e.get('alias') for e in self.root.find('types')
                               if e.get('category') == 'struct' and e.get('alias')}
        known = {e.get('name'): e for e in self.root.find('extensions') if is_vulkan(e)}
        self.extensions = [known[name] for name in self.announced['extension'] if name in known]
        self.owed, self.types = {}, []
        for feature in self.root.findall('feature'):
            if 'vulkan' in feature.get('api').split(','):
                self.require(feature, version=feature.get('number'))
        for extension in self.extensions:
            self.require(extension, extension=extension.get('name'))

    def require(self, element, version=None, extension=None):
        for block in element.findall('require'):
            if not is_vulkan(block) or (extension and not self.is_met(block)):
                continue
            for command in block.findall('command'):
                entry = self.owed.setdefault(command.get('name'), {'version': None, 'extensions': []})
                entry['version'] = entry['version'] or version
                if extension:
                    entry['extensions'].append(extension)
            for kind in block.findall('type'):
                name = self.struct_aliases.get(kind.get('name'), kind.get('name'))
                if name in self.structs and name not in self.types:
                    self.types.append(name)

    def is_met(self, block):
        """Whether a part of an extension that wants others has them: of these we know names only."""
        wants = block.get('depends') or block.get('extension') or block.get('feature') or ''
        names = re.findall(r'VK_\w+', wants)
        return not names or any(n in self.announced['extension'] or n.startswith('VK_VERSION') for n in names)

    def implementation(self, name):
        while name in self.aliases:
            name = self.aliases[name]
        return name

    def members(self, struct):
        """Type, name and dimension of each member, without sType and pNext; None where one is a pointer."""
        out = []
        for member in self.structs[struct].findall('member'):
            if not is_vulkan(member):
                continue
            name = member.find('name').text
            if name in ('sType', 'pNext'):
                continue
            text = ''.join(t for t in member.itertext()) if member.find('comment') is None else ''.join(
                t for e in [member] for t in ([e.text or ''] + [x for c in e if c.tag != 'comment'
                                                                for x in [c.text or '', c.tail or '']]))
            if '*' in text:
                out.append((None, name, ''))
                continue
            out.append((member.find('type').text, name, ''.join(re.findall(r'\[\w+\]', text))))
        return out

    def extending(self, parent):
        for name in self.types:
            if parent in (self.structs[name].get('structextends') or '').split(','):
                yield name

    def structure_type(self, struct):
        for member in self.structs[struct].findall('member'):
            if member.find('name').text == 'sType':
                return member.get('values')
        return None


def signature(registry, name):
    element = registry.commands[name]
    result = ''.join(element.find('proto').itertext()).split()[:-1]
    params = [' '.join(''.join(p.itertext()).split()) for p in element.findall('param') if is_vulkan(p)]
    return ' '.join(result), params


def level(registry, name):
    first = registry.commands[name].find('param/type').text
    if name in ('vkCreateInstance', 'vkEnumerateInstanceVersion', 'vkEnumerateInstanceExtensionProperties',
                'vkEnumerateInstanceLayerProperties', 'vkGetInstanceProcAddr'):
        return 'GLOBAL'
    return LEVELS.get(first, 'DEVICE')


def is_graphics(registry, name):
    return name in GRAPHICS or registry.commands[name].get('queues') == 'graphics'


def flat(registry, structs):
    """Members of several structs, each once."""
    seen = {}
    for struct in structs:
        for kind, name, dimension in registry.members(struct):
            if kind is None:
                continue
            if seen.setdefault(name, (kind, dimension)) != (kind, dimension):
                sys.exit(f'{struct}.{name}: {kind}{dimension}, elsewhere {seen[name]}')
    return [(kind, name, dimension) for name, (kind, dimension) in seen.items()]


def header(registry, features, properties):
    yield '/* Made by generate.py from the registry. */\n#pragma once\n'
    yield '#include <stdbool.h>\n#include <vulkan/vulkan_core.h>\n'
    yield 'enum agxvk_extension {\n   AGXVK_NO_EXTENSION = 0,'
    for extension in registry.extensions:
        yield f'   AGXVK_{extension.get("name")[3:]},'
    yield '   AGXVK_EXTENSION_COUNT\n};\n'
    yield 'struct agxvk_features {'
    for _, name, _ in flat(registry, features):
        yield f'   bool {name};'
    yield '};\n\nstruct agxvk_properties {'
    for kind, name, dimension in flat(registry, properties):
        yield f'   {kind} {name}{dimension};'
    yield '};\n'
    for name in sorted({registry.implementation(n) for n in registry.owed}):
        result, params = signature(registry, name)
        yield f'VKAPI_ATTR {result} VKAPI_CALL agxvk_{name[2:]}({", ".join(params)});'


def stub(registry, name):
    result, params = signature(registry, name)
    yield f'VKAPI_ATTR {result} VKAPI_CALL agxvk_{name[2:]}({", ".join(params)})\n{{'
    yield f'   agxvk_no_graphics("{name}");'
    if result == 'VkResult':
        yield '   return VK_ERROR_FEATURE_NOT_PRESENT;'
    yield '}\n'


def entry_points(registry):
    for name in sorted({registry.implementation(n) for n in registry.owed}):
        if is_graphics(registry, name):
            yield from stub(registry, name)
    yield 'const struct agxvk_entry_point agxvk_entry_points[] = {'
    for name in sorted(registry.owed):
        owed = registry.owed[name]
        target = registry.implementation(name)
        major, minor = (owed['version'] or '0.0').split('.')
        extensions = ', '.join(f'AGXVK_{e[3:]}' for e in owed['extensions'])
        yield (f'   {{"{name}", (PFN_vkVoidFunction)agxvk_{target[2:]}, AGXVK_{level(registry, target)}, '
               f'VK_MAKE_API_VERSION(0, {major}, {minor}, 0), {{{extensions or 0}}}}},')
    yield '};\nconst uint32_t agxvk_entry_point_count = sizeof(agxvk_entry_points) / sizeof(agxvk_entry_points[0]);\n'


def extensions(registry):
    yield 'const struct agxvk_extension_info agxvk_extensions[AGXVK_EXTENSION_COUNT] = {'
    for extension in registry.extensions:
        name = extension.get('name')
        versions = [e.get('value') for r in extension.findall('require') for e in r.findall('enum')
                    if (e.get('name') or '').endswith('_SPEC_VERSION')]
        is_instance = 'true' if extension.get('type') == 'instance' else 'false'
        yield f'   [AGXVK_{name[3:]}] = {{"{name}", {versions[0]}, {is_instance}}},'
    yield '};\n'


def each_struct(registry, structs, body):
    for struct in structs:
        yield f'      case {registry.structure_type(struct)}: {{'
        yield from body(struct)
        yield '         break;\n      }'


def feature_functions(registry, structs):
    announced = registry.announced['feature']
    known = {name for _, name, _ in flat(registry, structs)}
    yield 'const struct agxvk_features agxvk_announced_features = {'
    for name in announced:
        if name in known:
            yield f'   .{name} = true,'
    yield '};\n'
    base = [name for _, name, _ in registry.members('VkPhysicalDeviceFeatures')]
    yield 'void agxvk_core_features_write(VkPhysicalDeviceFeatures *out)\n{'
    yield '   const struct agxvk_features *from = &agxvk_announced_features;'
    for name in base:
        yield f'   out->{name} = from->{name};'
    yield '}\n'
    yield 'void agxvk_features_write(VkBaseOutStructure *chain)\n{'
    yield '   const struct agxvk_features *from = &agxvk_announced_features;'
    yield '   for (; chain; chain = chain->pNext) {\n      switch ((int)chain->sType) {'

    def write(struct):
        yield f'         {struct} *out = ({struct} *)chain;'
        for _, name, _ in registry.members(struct):
            yield f'         out->{name} = from->{name};'
    rest = [s for s in structs if s != 'VkPhysicalDeviceFeatures']
    yield from each_struct(registry, rest, write)
    yield '      default:\n         break;\n      }\n   }\n}\n'
    yield ('const char *agxvk_core_features_enable(const VkPhysicalDeviceFeatures *in, struct agxvk_features *enabled)\n'
           '{\n   const struct agxvk_features *has = &agxvk_announced_features;')
    for name in base:
        yield f'   if (in->{name} && !has->{name})\n      return "{name}";\n   enabled->{name} |= in->{name} != 0;'
    yield '   return NULL;\n}\n'
    yield ('const char *agxvk_features_enable(const VkBaseInStructure *chain, struct agxvk_features *enabled)\n'
           '{\n   const struct agxvk_features *has = &agxvk_announced_features;')
    yield '   for (; chain; chain = chain->pNext) {\n      switch ((int)chain->sType) {'

    def enable(struct):
        yield f'         const {struct} *in = (const {struct} *)chain;'
        for _, name, _ in registry.members(struct):
            yield (f'         if (in->{name} && !has->{name})\n            return "{name}";\n'
                   f'         enabled->{name} |= in->{name} != 0;')
    yield from each_struct(registry, rest, enable)
    yield '      default:\n         break;\n      }\n   }\n   return NULL;\n}\n'


def property_function(registry, structs):
    yield 'void agxvk_properties_write(const struct agxvk_properties *from, VkBaseOutStructure *chain)\n{'
    yield '   for (; chain; chain = chain->pNext) {\n      switch ((int)chain->sType) {'

    def write(struct):
        yield f'         {struct} *out = ({struct} *)chain;'
        for kind, name, dimension in registry.members(struct):
            if kind is None:
                continue
            if dimension:
                yield f'         memcpy(out->{name}, from->{name}, sizeof(out->{name}));'
            else:
                yield f'         out->{name} = from->{name};'
    yield from each_struct(registry, structs, write)
    yield '      default:\n         break;\n      }\n   }\n}\n'


def formats(registry):
    yield 'const struct agxvk_format agxvk_formats[] = {'
    known = {}
    for enums in registry.root.findall('enums'):
        if enums.get('name') == 'VkFormat':
            known.update({e.get('name'): int(e.get('value')) for e in enums if e.get('value')})
    for element in registry.root.find('formats'):
        name = element.get('name')
        if name not in known:
            continue
        width, height, _ = (element.get('blockExtent') or '1,1,1').split(',')
        yield f'   {{{name}, "{name[len("VK_FORMAT_"):]}", {element.get("blockSize")}, {width}, {height}}},'
    yield '};\nconst uint32_t agxvk_format_count = sizeof(agxvk_formats) / sizeof(agxvk_formats[0]);\n'


def source(registry, features, properties):
    yield '/* Made by generate.py from the registry. */'
    yield '#include <string.h>\n\n#include "vulkan/tables.h"\n'
    yield from entry_points(registry)
    yield from extensions(registry)
    yield from feature_functions(registry, features)
    yield from property_function(registry, properties)
    yield from formats(registry)


def main():
    path, announced, out_h, out_c = sys.argv[1:]
    with open(announced, encoding='utf-8') as file:
        rows = [line.split('#')[0].split() for line in file]
    registry = Registry(path, [row[:2] for row in rows if row])
    features = ['VkPhysicalDeviceFeatures', *registry.extending('VkPhysicalDeviceFeatures2')]
    properties = list(registry.extending('VkPhysicalDeviceProperties2'))
    with open(out_h, 'w', encoding='utf-8') as file:
        file.write('\n'.join(header(registry, features, properties)) + '\n')
    with open(out_c, 'w', encoding='utf-8') as file:
        file.write('\n'.join(source(registry, features, properties)))


main()
